-- title: Requests that only inner layers saw and that ended in an error there
-- store: table
WITH failing AS (
    SELECT
        marks.request_id,
        min(marks.event_id) AS event_id,
        bool_and(marks.kind = 'other') AS vague,
        arg_max(marks.status, marks.event_id)
        FILTER (WHERE marks.status IS NOT NULL) AS status
    FROM marks
    WHERE
        marks.request_id IS NOT NULL
        AND marks.layer IN ('harness', 'model')
        AND (
            marks.status >= 400
            OR marks.kind IN (
                'quota_exceeded', 'burst_limit', 'token_rate_limit',
                'request_rate_limit', 'concurrency_limit', 'queue_full',
                'context_overflow', 'plugin_failed', 'bad_request', 'auth_failed',
                'no_route', 'provider_limit', 'request_failed',
                'request_engine_dead', 'request_failed_engine'
            )
        )
    GROUP BY marks.request_id
),

unseen AS (
    SELECT failing.*
    FROM failing
    ANTI JOIN access ON failing.request_id = access.request_id
),

-- A request whose id the edge did not log is there already, without its id.
idless AS (
    SELECT
        access.status,
        access.ts_end,
        access.ts_error_us
    FROM access
    WHERE access.request_id IS NULL AND access.status >= 400
)

SELECT
    unseen.event_id,
    unseen.request_id,
    coalesce(unseen.status, life.status) AS status,
    life.ts_first AS ts_start,
    life.ts_last AS ts_end
FROM unseen
INNER JOIN life ON unseen.request_id = life.request_id
WHERE
    -- The last word counts: a try that failed may have been followed by another.
    coalesce(life.status, unseen.status, 500) >= 400
    -- What failed in unknown words can have been a part that was not needed.
    AND NOT (unseen.vague AND life.completed)
    AND NOT EXISTS (
        SELECT 1
        FROM idless
        WHERE
            idless.status = coalesce(unseen.status, life.status)
            AND abs(date_diff('microsecond', idless.ts_end, life.ts_last))
            <= 1000000 + idless.ts_error_us
    )
