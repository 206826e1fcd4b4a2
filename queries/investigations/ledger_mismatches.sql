-- title: Entries of the ledger that do not fit what was used
-- topic: quota
-- answers: Was anybody charged too much, twice, or for nothing, and by how much?
-- param top: integer = 100; how many entries
-- param user: text; only this user
-- column odd: what is odd about it
-- column user_id: user
-- column request_id: request
-- column ts: time of the entry
-- column amount: amount charged, in the ledger's unit
-- column path: log that says so
-- column line: its line
SELECT
    mismatches.odd,
    mismatches.user_id,
    mismatches.request_id,
    mismatches.ts,
    mismatches.amount,
    sources.path,
    mismatches.event_id % 10000000000 AS line
FROM mismatches
INNER JOIN sources ON mismatches.event_id // 10000000000 = sources.source_id
WHERE $user IS NULL OR mismatches.user_id = $user
ORDER BY
    mismatches.odd ASC,
    mismatches.amount DESC NULLS LAST,
    mismatches.ts ASC,
    mismatches.event_id ASC
LIMIT $top
