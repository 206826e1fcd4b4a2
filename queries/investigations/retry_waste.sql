-- title: What retries cost: extra attempts, tokens and GPU seconds charged for nothing
-- topic: failures
-- answers: How much of the load, of the tokens and of the quota went into attempts that failed?
-- param top: integer = 20; how many users
-- column user_id: user; NULL where no log says
-- column requests: requests of the user
-- column attempts: attempts of all of them
-- column amplification: attempts for each request
-- column failed: failed attempts
-- column charged: charges of the ledger for attempts that failed
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

-- Of several charges of a request the last ones are of what was served, unless they
-- say themselves what became of it.
ordered AS (
    SELECT
        ledger.*,
        coalesce(
            ledger.status >= 400,
            row_number() OVER (
                PARTITION BY ledger.request_id
                ORDER BY ledger.ts DESC, ledger.event_id DESC
            ) > requests.attempts - requests.failed
        ) AS wasted
    FROM ledger
    INNER JOIN requests ON ledger.request_id = requests.request_id
    WHERE ledger.entry = 'charge' AND requests.failed > 0
),

charges AS (
    SELECT
        ordered.request_id,
        count(*) AS charged,
        sum(
            coalesce(ordered.prompt_tokens, 0) + coalesce(ordered.completion_tokens, 0)
        ) AS tokens,
        sum(ordered.gpu_seconds) AS gpu_seconds,
        sum(ordered.amount) AS amount
    FROM ordered
    WHERE ordered.wasted
    GROUP BY ordered.request_id
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
LEFT JOIN charges ON requests.request_id = charges.request_id
GROUP BY requests.user_id
HAVING sum(requests.failed) > 0
ORDER BY
    wasted_amount DESC, failed DESC, amplification DESC, requests.user_id ASC NULLS LAST
LIMIT $top
