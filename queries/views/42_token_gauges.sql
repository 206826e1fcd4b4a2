-- title: Times in which a gauge shows no tokens left for this minute
-- store: table
WITH readings AS (
    SELECT
        samples.event_id,
        samples.ts,
        samples.ts_error_us,
        samples.clock_status,
        nullif(regexp_extract(samples.labels, '\buser(?:_id)?="([^"]+)"', 1), '')
            AS user_id,
        samples.value,
        samples.labels,
        samples.source_id
    FROM samples
    WHERE samples.name = 'harness_token_remaining_gauge'
),

followed AS (
    SELECT
        readings.*,
        lead(readings.ts) OVER (
            PARTITION BY readings.source_id, readings.labels
            ORDER BY readings.ts, readings.event_id
        ) AS next_ts
    FROM readings
)

SELECT
    followed.user_id,
    followed.ts AS ts_start,
    coalesce(followed.next_ts, followed.ts + INTERVAL 15 SECOND) AS ts_end,
    followed.ts_error_us,
    followed.clock_status,
    [followed.event_id] AS evidence
FROM followed
WHERE followed.value <= 0
