-- title: What each pool spent over time, and what it was denied
-- topic: quota
-- answers: How fast is each pool used, and when did that change?
-- param bucket: duration = 1h; how much time a row is about
-- param scope: text = user; pools of this level: user, project or tenant
-- column ts: start of the time that the row is about
-- column pool: name of the pool
-- column reserved: amount reserved in that time, in the ledger's unit
-- column charged: amount charged
-- column released: amount released
-- column charges: charges
-- column denied: denials
-- column spent: amount charged since the ledger begins
WITH entries AS (
    SELECT
        time_bucket($bucket, ledger.ts) AS ts,
        CASE $scope
            WHEN 'project' THEN ledger.project_id
            WHEN 'tenant' THEN ledger.tenant_id
            ELSE ledger.user_id
        END AS pool,
        ledger.entry,
        ledger.amount
    FROM ledger
),

flows AS (
    SELECT
        entries.ts,
        entries.pool,
        sum(entries.amount) FILTER (WHERE entries.entry = 'reserve') AS reserved,
        sum(entries.amount) FILTER (WHERE entries.entry = 'charge') AS charged,
        sum(entries.amount) FILTER (WHERE entries.entry = 'release') AS released,
        count(*) FILTER (WHERE entries.entry = 'charge') AS charges,
        count(*) FILTER (WHERE entries.entry = 'deny') AS denied
    FROM entries
    WHERE entries.pool IS NOT NULL
    GROUP BY entries.ts, entries.pool
)

SELECT
    flows.ts,
    flows.pool,
    round(coalesce(flows.reserved, 0), 3) AS reserved,
    round(coalesce(flows.charged, 0), 3) AS charged,
    round(coalesce(flows.released, 0), 3) AS released,
    flows.charges,
    flows.denied,
    round(
        sum(coalesce(flows.charged, 0)) OVER (
            PARTITION BY flows.pool ORDER BY flows.ts ROWS UNBOUNDED PRECEDING
        ), 3
    ) AS spent
FROM flows
ORDER BY flows.ts ASC, flows.pool ASC
