-- title: How many first attempts failed, and how many requests in the end
-- topic: failures
-- answers: Do retries help? A rate that stays as it was says that they only add load.
-- column model: model that was asked for; NULL where no log says
-- column requests: requests
-- column first_failed: requests whose first attempt failed
-- column first_failed_share: the same as a share of all
-- column retried: of these, requests that were tried again
-- column rescued: of these, requests that succeeded in the end
-- column still_failed: requests whose last attempt failed
-- column still_failed_share: the same as a share of all
-- column attempts: attempts of all of them
WITH requests AS (
    SELECT
        attempts.request_id,
        arg_min(attempts.model, (attempts.attempt, attempts.attempt_id)) AS model,
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
    requests.model,
    count(*) AS requests,
    count(*) FILTER (WHERE requests.first_failed) AS first_failed,
    round(count(*) FILTER (WHERE requests.first_failed) / count(*), 4)
        AS first_failed_share,
    count(*) FILTER (WHERE requests.first_failed AND requests.attempts > 1) AS retried,
    count(*) FILTER (WHERE requests.first_failed AND NOT requests.last_failed)
        AS rescued,
    count(*) FILTER (WHERE requests.last_failed) AS still_failed,
    round(count(*) FILTER (WHERE requests.last_failed) / count(*), 4)
        AS still_failed_share,
    sum(requests.attempts)::BIGINT AS attempts
FROM requests
GROUP BY requests.model
ORDER BY requests DESC, requests.model ASC NULLS LAST
