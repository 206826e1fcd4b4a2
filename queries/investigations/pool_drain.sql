-- title: Who emptied the pools that ran out
-- topic: quota
-- answers: When did a pool run out, and whose requests took it?
-- param top: integer = 5; how many users of each pool
-- column level: user, project or tenant
-- column pool: name of the pool
-- column empty_ts: first snapshot that shows it empty, else the first denial
-- column denied: requests that the ledger denied to its users
-- column user_id: user
-- column spent: what was charged to the user before it was empty, in the ledger's unit
-- column spent_share: the same as a share of what all users of the pool were charged
-- column requests: requests that this charged for
-- column spent_later: what was charged to the user afterwards
WITH entries AS (
    SELECT
        ledger.event_id,
        ledger.ts,
        ledger.entry,
        ledger.amount,
        ledger.request_id,
        ledger.user_id,
        levels.level,
        CASE levels.level
            WHEN 'user' THEN ledger.user_id
            WHEN 'project' THEN ledger.project_id
            ELSE ledger.tenant_id
        END AS pool
    FROM ledger
    CROSS JOIN (VALUES ('user'), ('project'), ('tenant')) AS levels (level)
    WHERE ledger.entry IN ('charge', 'deny')
),

snapshots AS (
    SELECT
        balances.level,
        balances.level_id AS pool,
        min(balances.ts) AS ts
    FROM balances
    WHERE balances.used_ratio > 0.99
    GROUP BY balances.level, balances.level_id
),

-- Without a snapshot a denial does not tell which pool it was: the user's own stands in.
denials AS (
    SELECT
        entries.level,
        entries.pool,
        min(entries.ts) AS ts,
        count(*) AS denied
    FROM entries
    WHERE entries.entry = 'deny' AND entries.pool IS NOT NULL
    GROUP BY entries.level, entries.pool
),

empty AS (
    SELECT
        snapshots.level,
        snapshots.pool,
        snapshots.ts,
        coalesce(denials.denied, 0) AS denied
    FROM snapshots
    LEFT JOIN denials
        ON snapshots.level = denials.level AND snapshots.pool = denials.pool
    UNION ALL
    SELECT
        denials.level,
        denials.pool,
        denials.ts,
        denials.denied
    FROM denials
    WHERE
        denials.level = 'user' AND (SELECT count(*) FROM snapshots) = 0
),

spending AS (
    SELECT
        empty.level,
        empty.pool,
        empty.ts AS empty_ts,
        empty.denied,
        entries.user_id,
        coalesce(sum(entries.amount) FILTER (WHERE entries.ts <= empty.ts), 0) AS spent,
        count(DISTINCT entries.request_id) FILTER (WHERE entries.ts <= empty.ts)
            AS requests,
        coalesce(sum(entries.amount) FILTER (WHERE entries.ts > empty.ts), 0)
            AS spent_later
    FROM empty
    LEFT JOIN entries
        ON
            empty.level = entries.level
            AND empty.pool = entries.pool
            AND entries.entry = 'charge'
    GROUP BY empty.level, empty.pool, empty.ts, empty.denied, entries.user_id
),

ranked AS (
    SELECT
        spending.*,
        sum(spending.spent) OVER (PARTITION BY spending.level, spending.pool) AS whole,
        row_number() OVER (
            PARTITION BY spending.level, spending.pool
            ORDER BY spending.spent DESC, spending.user_id ASC
        ) AS place
    FROM spending
)

SELECT
    ranked.level,
    ranked.pool,
    ranked.empty_ts,
    ranked.denied,
    ranked.user_id,
    round(ranked.spent, 3) AS spent,
    round(ranked.spent / nullif(ranked.whole, 0), 4) AS spent_share,
    coalesce(ranked.requests, 0) AS requests,
    round(ranked.spent_later, 3) AS spent_later
FROM ranked
WHERE ranked.place <= $top
ORDER BY
    ranked.empty_ts ASC,
    ranked.level ASC,
    ranked.pool ASC,
    ranked.place ASC
