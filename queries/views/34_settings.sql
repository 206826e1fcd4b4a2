-- title: Limits in force: what --config states, a configuration file, a record, or a default
-- store: case
WITH found AS (
    SELECT
        marks.event_id,
        -- The unit stands in the value: "60/requests_per_minute" is no budget of tokens.
        CASE
            WHEN
                (marks.attrs ->> '$.key') = 'rate_limit'
                AND contains(lower(marks.attrs ->> '$.value'), 'request')
                THEN 'request_limit'
            ELSE (marks.attrs ->> '$.key')
        END AS key,
        (marks.attrs ->> '$.value') AS value,
        TRUE AS stated
    FROM marks
    WHERE marks.kind = 'config_setting'
    UNION ALL
    SELECT
        marks.event_id,
        'max_concurrent_requests' AS key,
        (marks.attrs ->> '$.max_concurrent_requests') AS value,
        FALSE AS stated
    FROM marks
    WHERE
        marks.kind = 'concurrency_limit'
        AND (marks.attrs ->> '$.max_concurrent_requests') IS NOT NULL
    UNION ALL
    SELECT
        marks.event_id,
        'burst_limit' AS key,
        (marks.attrs ->> '$.burst_limit') AS value,
        FALSE AS stated
    FROM marks
    WHERE
        marks.kind = 'burst_limit'
        AND (marks.attrs ->> '$.burst_limit') IS NOT NULL
),

numbers AS (
    SELECT
        found.event_id,
        CASE found.key
            WHEN 'rate_limit' THEN 'tokens_per_minute'
            WHEN 'request_limit' THEN 'requests_per_minute'
            WHEN 'burst_window' THEN 'burst_window_s'
            WHEN 'burst_window_seconds' THEN 'burst_window_s'
            WHEN 'quota_grace_period' THEN 'quota_grace_period_s'
            ELSE found.key
        END AS key,
        -- Where a file has two names for one thing, the one that is usual.
        found.key IN ('rate_limit', 'burst_window_seconds') AS usual,
        found.stated,
        try_cast(
            replace(
                regexp_extract(found.value, '^\s*[''"]?([0-9][0-9_]*)', 1), '_', ''
            ) AS DOUBLE
        ) AS number
    FROM found
),

logged AS (
    SELECT
        numbers.key,
        -- A configuration file before what a record mentions; then the last word.
        arg_max(
            numbers.number, (numbers.stated, numbers.usual, numbers.event_id)
        ) AS number,
        arg_max(
            numbers.event_id, (numbers.stated, numbers.usual, numbers.event_id)
        ) AS event_id
    FROM numbers
    WHERE numbers.number IS NOT NULL
    GROUP BY numbers.key
)

-- The user's word before what is logged, and that before a default.
SELECT
    coalesce(limits.key, logged.key) AS key,
    CASE
        WHEN limits.given THEN limits.number
        ELSE coalesce(logged.number, limits.number)
    END AS number,
    CASE WHEN limits.given THEN NULL ELSE logged.event_id END AS event_id,
    CASE
        WHEN limits.given OR logged.event_id IS NULL THEN limits.place
        ELSE 'logged'
    END AS place
FROM logged
FULL JOIN limits ON logged.key = limits.key
