-- title: Times in which the harness had no free worker or answered no probe, and its log stood still
-- store: table
WITH scrapes AS (
    SELECT
        events.event_id,
        events.clock_id,
        'no free worker' AS sign,
        events.ts,
        events.ts_raw,
        coalesce(clocks.status, 'untied') AS clock_status,
        try_cast((events.attrs ->> '$.value') AS DOUBLE) = 0 AS bad
    FROM events
    LEFT JOIN clocks
        ON events.clock_id = clocks.clock_id AND clocks.segment = 0
    WHERE
        events.kind = 'metric'
        AND (events.attrs ->> '$.name') = 'harness_worker_threads'
        AND contains((events.attrs ->> '$.labels'), 'idle')
),

probes AS (
    SELECT
        marks.event_id,
        marks.clock_id,
        'no answer to probes' AS sign,
        marks.ts,
        marks.ts_raw,
        marks.clock_status,
        marks.kind = 'harness_unhealthy' AS bad
    FROM marks
    WHERE marks.kind IN ('harness_unhealthy', 'harness_healthy')
),

signs AS (
    SELECT scrapes.* FROM scrapes
    UNION ALL
    SELECT probes.* FROM probes
),

numbered AS (
    SELECT
        signs.*,
        sum(CASE WHEN signs.bad THEN 0 ELSE 1 END) OVER (
            PARTITION BY signs.clock_id, signs.sign ORDER BY signs.ts, signs.event_id
        ) AS run
    FROM signs
),

runs AS (
    SELECT
        numbered.sign,
        min(numbered.ts) AS ts_start,
        max(numbered.ts) AS ts_end,
        min(numbered.ts_raw) AS raw_start,
        max(numbered.ts_raw) AS raw_end,
        bool_or(numbered.clock_status = 'untied') AS untied,
        count(*) AS times,
        list(numbered.event_id ORDER BY numbered.event_id)[1:20] AS evidence
    FROM numbered
    WHERE numbered.bad
    GROUP BY numbered.clock_id, numbered.sign, numbered.run
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
        AND events.clock_id NOT IN (SELECT signs.clock_id FROM signs)
    WINDOW logs AS (PARTITION BY events.clock_id ORDER BY events.ts, events.event_id)
),

-- The time is that of the harness's log. Metrics that no clock ties are of the same
-- host, by their stamps.
pauses AS (
    SELECT
        words.ts AS ts_start,
        words.next_ts AS ts_end,
        words.ts_error_us,
        words.clock_id,
        runs.sign,
        runs.times,
        runs.evidence
    FROM runs
    INNER JOIN words
        ON
            CASE
                WHEN runs.untied
                    THEN
                        words.ts_raw < runs.raw_end
                        AND words.next_raw > runs.raw_start
                ELSE words.ts < runs.ts_end AND words.next_ts > runs.ts_start
            END
            AND words.next_ts >= words.ts + INTERVAL 60 SECOND
)

SELECT
    pauses.ts_start,
    pauses.ts_end,
    max(pauses.ts_error_us) AS ts_error_us,
    coalesce(min(clocks.status), 'untied') AS clock_status,
    string_agg(DISTINCT pauses.times || ' x ' || pauses.sign, ', ') AS signs,
    list_sort(flatten(list(pauses.evidence)))[1:40] AS evidence
FROM pauses
LEFT JOIN clocks ON pauses.clock_id = clocks.clock_id AND clocks.segment = 0
GROUP BY pauses.clock_id, pauses.ts_start, pauses.ts_end
