-- title: Attempts refused with 429 before forwarding, with the load at that moment
-- store: table
WITH refused AS (
    SELECT
        failures.attempt_id,
        failures.ts_start,
        failures.ts_end,
        failures.user_id,
        date_trunc('second', failures.ts_end) AS second,
        -- What a limit of bursts tells, and none of what is in flight.
        coalesce(
            (access.attrs ->> '$.retry_after'),
            (access.attrs ->> '$.sent_http_retry_after'),
            ''
        ) = '60' AS told_minute
    FROM failures
    INNER JOIN access ON failures.attempt_id = access.event_id
    WHERE
        failures.status = 429
        AND failures.forwarded IS NOT TRUE
        AND failures.has_access
)

-- The loosest count that the stamps allow: whatever was running when the second
-- before began, plus all that started until the second after.
SELECT
    refused.attempt_id,
    refused.ts_start,
    refused.ts_end,
    refused.user_id,
    refused.told_minute,
    coalesce(before.in_flight, 0) + coalesce(sum(around.started), 0)::BIGINT
        AS most_in_flight
FROM refused
ASOF LEFT JOIN load AS before
    ON refused.second - INTERVAL 1 SECOND > before.second
LEFT JOIN load AS around
    ON
        around.second BETWEEN refused.second - INTERVAL 1 SECOND AND refused.second
GROUP BY
    refused.attempt_id,
    refused.ts_start,
    refused.ts_end,
    refused.user_id,
    refused.told_minute,
    before.in_flight
