-- title: The last known balance of each quota pool
-- topic: quota
-- answers: Which pools are empty or nearly so, and how old is what we know?
-- param top: integer = 50; how many pools
-- column level: user, project or tenant
-- column pool: name of the pool
-- column used_ratio: used share by the last snapshot, 1 = all of it
-- column pool_used: what it has used, in the ledger's unit
-- column pool_limit: what it may use, in the ledger's unit
-- column snapshot_ts: time of that snapshot
-- column fresh: whether the snapshot was worked out within 5 minutes of it
-- column first_ratio: used share by the first snapshot
-- column first_empty_ts: first snapshot that shows more than 99 % used
-- column snapshots: snapshots of the pool
SELECT
    balances.level,
    balances.level_id AS pool,
    arg_max(balances.used_ratio, (balances.ts, balances.event_id, balances.used_ratio))
        AS used_ratio,
    arg_max(balances.pool_used, (balances.ts, balances.event_id, balances.used_ratio))
        AS pool_used,
    arg_max(balances.pool_limit, (balances.ts, balances.event_id, balances.used_ratio))
        AS pool_limit,
    max(balances.ts) AS snapshot_ts,
    arg_max(balances.fresh, (balances.ts, balances.event_id, balances.used_ratio))
        AS fresh,
    arg_min(balances.used_ratio, (balances.ts, balances.event_id, balances.used_ratio))
        AS first_ratio,
    min(balances.ts) FILTER (WHERE balances.used_ratio > 0.99) AS first_empty_ts,
    count(*) AS snapshots
FROM balances
GROUP BY balances.level, balances.level_id
ORDER BY used_ratio DESC, balances.level ASC, balances.level_id ASC
LIMIT $top
