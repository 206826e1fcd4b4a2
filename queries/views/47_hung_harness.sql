-- title: Times in which no worker of the harness was free and its log stood still
-- store: table
WITH scrapes AS (
    SELECT
        marks.event_id,
        marks.clock_id,
        marks.log_dir,
        marks.ts,
        marks.ts_raw,
        marks.clock_status,
        try_cast((marks.attrs ->> '$.value') AS DOUBLE) = 0 AS busy
    FROM marks
    WHERE
        marks.kind = 'metric'
        AND (marks.attrs ->> '$.name') = 'harness_worker_threads'
        AND contains((marks.attrs ->> '$.labels'), 'idle')
),

numbered AS (
    SELECT
        scrapes.*,
        sum(CASE WHEN scrapes.busy THEN 0 ELSE 1 END) OVER (
            PARTITION BY scrapes.clock_id ORDER BY scrapes.ts, scrapes.event_id
        ) AS run
    FROM scrapes
),

runs AS (
    SELECT
        min(numbered.ts) AS ts_start,
        max(numbered.ts) AS ts_end,
        min(numbered.ts_raw) AS raw_start,
        max(numbered.ts_raw) AS raw_end,
        bool_or(numbered.clock_status = 'untied') AS untied,
        count(*) AS scrapes,
        list(numbered.event_id ORDER BY numbered.event_id)[1:20] AS evidence
    FROM numbered
    WHERE numbered.busy
    GROUP BY numbered.clock_id, numbered.run
    HAVING count(*) >= 3
),

-- Pauses of the harness's own log, from the word before to the word after.
words AS (
    SELECT
        events.clock_id,
        events.ts,
        events.ts_raw,
        coalesce(events.ts_error_us, events.ts_precision_us) AS ts_error_us,
        lead(events.ts) OVER logs AS next_ts,
        lead(events.ts_raw) OVER logs AS next_raw
    FROM events
    WHERE
        (SELECT count(*) FROM runs) > 0
        AND events.layer = 'harness'
        AND events.component = 'harness'
    WINDOW logs AS (PARTITION BY events.clock_id ORDER BY events.ts, events.event_id)
)

-- The time is that of the harness's log. Metrics that no clock ties are of the same
-- host, by their stamps.
SELECT
    words.ts AS ts_start,
    words.next_ts AS ts_end,
    words.ts_error_us,
    coalesce(clocks.status, 'untied') AS clock_status,
    runs.scrapes,
    runs.evidence
FROM runs
INNER JOIN words
    ON
        CASE
            WHEN runs.untied
                THEN words.ts_raw < runs.raw_end AND words.next_raw > runs.raw_start
            ELSE words.ts < runs.ts_end AND words.next_ts > runs.ts_start
        END
        AND words.next_ts >= words.ts + INTERVAL 60 SECOND
LEFT JOIN clocks ON words.clock_id = clocks.clock_id AND clocks.segment = 0
