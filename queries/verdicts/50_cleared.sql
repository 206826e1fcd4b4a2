-- title: Which layers a failed attempt clears, and by what fact
-- store: table
WITH healthy AS (
    SELECT
        failures.attempt_id,
        seconds.served
    FROM failures
    INNER JOIN seconds
        ON
            date_trunc('second', failures.ts_end) = seconds.second
            AND seconds.engine IS NOT DISTINCT FROM failures.engine
),

quota_facts AS (
    SELECT
        failures.attempt_id,
        arg_max(balances.used_ratio, (balances.event_id, balances.used_ratio))
            AS used_ratio
    FROM failures
    INNER JOIN balances
        ON
            balances.user_id = failures.user_id
            AND balances.used_ratio < threshold('pool_empty')
            AND (
                balances.clock_status = 'untied'
                OR abs(date_diff('second', balances.ts, failures.ts_end))
                <= threshold('balance_fresh_s')
            )
    GROUP BY failures.attempt_id
)

SELECT
    failures.attempt_id,
    list_filter(
        [
            CASE
                WHEN failures.forwarded IS FALSE AND NOT failures.tried_upstream
                    THEN 'model: never forwarded'
                WHEN healthy.served > 0
                    THEN
                        'model: ' || healthy.served
                        || ' other attempts were served in the same second'
            END,
            CASE
                WHEN failures.forwarded THEN 'quota: forwarded to an engine'
                WHEN quota_facts.used_ratio IS NOT NULL
                    THEN 'quota: used ratio ' || quota_facts.used_ratio
            END
        ],
        LAMBDA fact: fact IS NOT NULL
    ) AS cleared
FROM failures
LEFT JOIN healthy ON failures.attempt_id = healthy.attempt_id
LEFT JOIN quota_facts ON failures.attempt_id = quota_facts.attempt_id
