-- title: What the greatest spenders were charged since the ledger begins
-- title zh: 账本开始以来收费最多者的累计收费
WITH bounds AS (
    SELECT date_diff('second', min(ledger.ts), max(ledger.ts)) AS span_s
    FROM ledger
),

-- The narrowest that gives less than 120 of them.
choices AS (
    SELECT
        unnest(
            [
                1, 2, 5, 10, 15, 30, 60, 120, 300, 600, 900, 1800, 3600, 7200,
                14400, 28800, 86400, 604800, 2592000, 31536000, 315360000,
                3153600000, 31536000000
            ]
        )::BIGINT AS width_s
),

widths AS (
    SELECT min(choices.width_s) AS width_s
    FROM bounds
    CROSS JOIN choices
    WHERE bounds.span_s < 120 * choices.width_s
),

charges AS (
    SELECT
        coalesce('project ' || ledger.project_id, 'user ' || ledger.user_id) AS pool,
        time_bucket(to_seconds(widths.width_s), ledger.ts) AS ts,
        widths.width_s,
        sum(ledger.amount) AS amount
    FROM ledger
    CROSS JOIN widths
    WHERE
        ledger.entry = 'charge'
        AND ledger.ts IS NOT NULL
        AND coalesce(ledger.project_id, ledger.user_id) IS NOT NULL
    GROUP BY pool, time_bucket(to_seconds(widths.width_s), ledger.ts), widths.width_s
),

spenders AS (
    SELECT
        charges.pool,
        sum(charges.amount) AS total
    FROM charges
    GROUP BY charges.pool
    HAVING sum(charges.amount) > 0
    ORDER BY total DESC, charges.pool ASC
    LIMIT 6
)

SELECT
    charges.pool,
    charges.ts,
    charges.width_s,
    round(charges.amount, 3) AS charged,
    round(
        sum(charges.amount) OVER (
            PARTITION BY charges.pool ORDER BY charges.ts ROWS UNBOUNDED PRECEDING
        ), 3
    ) AS spent
FROM charges
INNER JOIN spenders ON charges.pool = spenders.pool
ORDER BY spenders.total DESC, charges.pool ASC, charges.ts ASC
