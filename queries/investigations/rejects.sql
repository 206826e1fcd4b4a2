-- title: Records that no format took, by log and reason
-- topic: logs
-- answers: What could not be read, and is it much?
-- column path: log
-- column format: formats that took its other records
-- column reason: why no format took it
-- column records: records
-- column bytes: bytes of these
-- column share: these records as a share of all of the log
-- column first_line: line of the first one
-- column example: the beginning of the first one
SELECT
    sources.path,
    sources.format,
    rejects.reason,
    count(*) AS records,
    sum(rejects.byte_length)::BIGINT AS bytes,
    round(count(*) / nullif(any_value(sources.records), 0), 4) AS share,
    min(rejects.line) AS first_line,
    arg_min(rejects.text, rejects.line) AS example
FROM rejects
INNER JOIN sources ON rejects.source_id = sources.source_id
GROUP BY sources.source_id, sources.path, sources.format, rejects.reason
ORDER BY records DESC, sources.path ASC, rejects.reason ASC
