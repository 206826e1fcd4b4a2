-- title: Fresh balance snapshots that show an empty pool
-- store: table
SELECT
    balances.event_id,
    balances.ts,
    balances.ts_error_us,
    balances.clock_status,
    balances.user_id,
    balances.project_id,
    balances.tenant_id,
    balances.level,
    balances.level_id,
    balances.used_ratio,
    -- What was booked last made it so.
    least(balances.ts, balances.last_updated + (marks.ts - marks.ts_raw))
        AS since
FROM balances
INNER JOIN marks ON balances.event_id = marks.event_id
WHERE balances.used_ratio > threshold('pool_empty') AND balances.fresh
