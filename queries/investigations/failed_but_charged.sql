-- title: Requests that never succeeded and were charged all the same
-- topic: quota
-- answers: What should be given back, to whom?
-- param top: integer = 100; how many requests
-- column request_id: request
-- column user_id: user
-- column attempts: attempts, all of them failed
-- column charges: charges of the ledger
-- column amount: what they took, in the ledger's unit
-- column tokens: tokens that they charged for
-- column gpu_seconds: GPU seconds that they charged for
-- column causes: causes of the failed attempts
-- column first_ts: start of the first attempt
WITH failures AS (
    SELECT
        attempts.request_id,
        min(attempts.user_id) AS user_id,
        count(*) AS attempts,
        min(attempts.ts_start) AS first_ts,
        list_sort(
            coalesce(
                list(DISTINCT verdicts.cause) FILTER (
                    WHERE verdicts.cause IS NOT NULL
                ), []
            )
        ) AS causes
    FROM attempts
    LEFT JOIN verdicts ON attempts.attempt_id = verdicts.attempt_id
    WHERE attempts.request_id IS NOT NULL
    GROUP BY attempts.request_id
    HAVING bool_and(attempts.failed)
),

charges AS (
    SELECT
        ledger.request_id,
        count(*) AS charges,
        sum(ledger.amount) AS amount,
        sum(
            coalesce(ledger.prompt_tokens, 0) + coalesce(ledger.completion_tokens, 0)
        )::BIGINT AS tokens,
        sum(ledger.gpu_seconds) AS gpu_seconds
    FROM ledger
    WHERE ledger.entry = 'charge'
    GROUP BY ledger.request_id
)

SELECT
    failures.request_id,
    failures.user_id,
    failures.attempts,
    charges.charges,
    round(charges.amount, 3) AS amount,
    charges.tokens,
    round(charges.gpu_seconds, 3) AS gpu_seconds,
    failures.causes,
    failures.first_ts
FROM failures
INNER JOIN charges ON failures.request_id = charges.request_id
ORDER BY amount DESC NULLS LAST, failures.first_ts ASC, failures.request_id ASC
LIMIT $top
