-- title: How many requests failed at first, and how many in the end
-- title zh: 首次尝试失败的请求数与最终失败的请求数
WITH requests AS (
    SELECT
        attempts.request_id,
        arg_min(attempts.failed, (attempts.attempt, attempts.attempt_id))
            AS first_failed,
        arg_max(attempts.failed, (attempts.attempt, attempts.attempt_id))
            AS last_failed,
        count(*) AS attempts
    FROM attempts
    WHERE attempts.request_id IS NOT NULL
    GROUP BY attempts.request_id
)

SELECT
    count(*) AS requests,
    count(*) FILTER (WHERE requests.first_failed) AS first_failed,
    count(*) FILTER (WHERE requests.first_failed AND requests.attempts > 1) AS retried,
    count(*) FILTER (WHERE requests.first_failed AND NOT requests.last_failed)
        AS rescued,
    count(*) FILTER (WHERE requests.last_failed) AS still_failed,
    coalesce(sum(requests.attempts), 0)::BIGINT AS attempts,
    coalesce(sum(requests.attempts - 1), 0)::BIGINT AS retries
FROM requests
