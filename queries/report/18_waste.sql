-- title: What was charged for requests that never succeeded
-- title zh: 从未成功的请求被收取的费用
WITH lost AS (
    SELECT attempts.request_id
    FROM attempts
    WHERE attempts.request_id IS NOT NULL
    GROUP BY attempts.request_id
    HAVING bool_and(attempts.failed)
)

SELECT
    count(*) AS charges,
    count(DISTINCT ledger.request_id) AS requests,
    coalesce(
        sum(coalesce(ledger.prompt_tokens, 0) + coalesce(ledger.completion_tokens, 0)),
        0
    )::BIGINT AS tokens,
    round(coalesce(sum(ledger.gpu_seconds), 0), 3) AS gpu_seconds,
    round(coalesce(sum(ledger.amount), 0), 3) AS amount
FROM ledger
INNER JOIN lost ON ledger.request_id = lost.request_id
WHERE ledger.entry = 'charge'
