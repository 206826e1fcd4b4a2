-- title: Samples of metrics pages, in a time that other logs can be compared with
-- store: table
SELECT
    events.event_id,
    events.source_id,
    monitors.clock_id,
    monitors.host,
    CASE
        WHEN monitors.shift_us IS NULL THEN events.ts
        ELSE events.ts_raw - micros(monitors.shift_us)
    END AS ts,
    events.ts_raw,
    CASE
        WHEN monitors.shift_us IS NULL THEN events.ts_error_us
        ELSE 3000000
    END AS ts_error_us,
    monitors.clock_status,
    (events.attrs ->> '$.name') AS name,
    (events.attrs ->> '$.labels') AS labels,
    try_cast((events.attrs ->> '$.value') AS DOUBLE) AS value
FROM events
INNER JOIN monitors ON events.source_id = monitors.source_id
WHERE
    events.kind = 'metric'
    AND events.ts_raw IS NOT NULL
    AND isfinite(try_cast((events.attrs ->> '$.value') AS DOUBLE))
