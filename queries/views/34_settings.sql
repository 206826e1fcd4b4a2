-- title: Limits that a configuration file or a record states
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
        found.key,
        found.stated,
        try_cast(
            replace(
                regexp_extract(found.value, '^\s*[''"]?([0-9][0-9_]*)', 1), '_', ''
            ) AS DOUBLE
        ) AS number
    FROM found
)

SELECT
    numbers.key,
    -- A configuration file before what a record mentions; then the last word.
    arg_max(numbers.number, (numbers.stated, numbers.event_id)) AS number,
    arg_max(numbers.event_id, (numbers.stated, numbers.event_id)) AS event_id
FROM numbers
WHERE numbers.number IS NOT NULL
GROUP BY numbers.key
