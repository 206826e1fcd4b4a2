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
    balances.used_ratio
FROM balances
WHERE balances.used_ratio > threshold('pool_empty') AND balances.fresh
