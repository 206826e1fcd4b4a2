-- title: How many attempts, requests, users and models there were, and how many failed
-- title zh: 尝试、请求、用户与模型的数量，以及其中失败的数量
SELECT
    count(*) AS attempts,
    count(*) FILTER (WHERE attempts.failed) AS failed,
    count(DISTINCT attempts.request_id) AS requests,
    count(DISTINCT attempts.request_id) FILTER (WHERE attempts.failed)
        AS failed_requests,
    count(DISTINCT attempts.user_id) AS users,
    count(DISTINCT attempts.user_id) FILTER (WHERE attempts.failed) AS failed_users,
    count(DISTINCT attempts.model) AS models,
    count(DISTINCT attempts.model) FILTER (WHERE attempts.failed) AS failed_models,
    min(attempts.ts_start) AS ts_start,
    max(attempts.ts_end) AS ts_end,
    min(attempts.ts_start) FILTER (WHERE attempts.failed) AS failed_start,
    max(attempts.ts_end) FILTER (WHERE attempts.failed) AS failed_end
FROM attempts
