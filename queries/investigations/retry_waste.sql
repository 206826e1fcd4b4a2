-- title: What retries cost: extra attempts, tokens and GPU seconds charged for nothing
-- topic: failures
-- answers: How much of the load, of the tokens and of the quota went into attempts that failed?
-- param top: integer = 20; how many users
-- column user_id: user; NULL where no log says
-- column requests: requests of the user
-- column attempts: attempts of all of them
-- column amplification: attempts for each request
-- column failed: failed attempts
-- column charged: charges of the ledger for requests that never succeeded
-- column wasted_tokens: tokens that these charged for
-- column wasted_gpu_seconds: GPU seconds that these charged for
-- column wasted_amount: what they took from the pools, in the ledger's unit
WITH requests AS (
    SELECT
        attempts.request_id,
        min(attempts.user_id) AS user_id,
        count(*) AS attempts,
        count(*) FILTER (WHERE attempts.failed) AS failed
    FROM attempts
    WHERE attempts.request_id IS NOT NULL
    GROUP BY attempts.request_id
),

charges AS (
    SELECT
        ledger.request_id,
        count(*) AS charged,
        sum(
            coalesce(ledger.prompt_tokens, 0) + coalesce(ledger.completion_tokens, 0)
        ) AS tokens,
        sum(ledger.gpu_seconds) AS gpu_seconds,
        sum(ledger.amount) AS amount
    FROM ledger
    WHERE ledger.entry = 'charge' AND ledger.request_id IS NOT NULL
    GROUP BY ledger.request_id
)

SELECT
    requests.user_id,
    count(*) AS requests,
    sum(requests.attempts)::BIGINT AS attempts,
    round(sum(requests.attempts) / count(*), 2) AS amplification,
    sum(requests.failed)::BIGINT AS failed,
    coalesce(sum(charges.charged), 0)::BIGINT AS charged,
    coalesce(sum(charges.tokens), 0)::BIGINT AS wasted_tokens,
    round(coalesce(sum(charges.gpu_seconds), 0), 3) AS wasted_gpu_seconds,
    round(coalesce(sum(charges.amount), 0), 3) AS wasted_amount
FROM requests
LEFT JOIN charges
    ON
        requests.request_id = charges.request_id
        AND requests.failed = requests.attempts
GROUP BY requests.user_id
HAVING sum(requests.failed) > 0
ORDER BY
    wasted_amount DESC, failed DESC, amplification DESC, requests.user_id ASC NULLS LAST
LIMIT $top
