-- title: The edge turns clients away by its own request or connection limit
-- layer: harness
-- cause: harness.edge_limit
-- known gaps: limits with a log level below the one that was kept
WITH turned AS (
    SELECT
        marks.event_id,
        marks.log_dir,
        coalesce((marks.attrs ->> '$.zone'), '?') AS zone,
        marks.ts,
        marks.ts_error_us,
        marks.clock_status,
        marks.ts - lag(marks.ts) OVER zones > INTERVAL 60 SECOND AS pause
    FROM marks
    WHERE marks.kind = 'edge_limit'
    WINDOW
        zones AS (
            PARTITION BY marks.log_dir, coalesce((marks.attrs ->> '$.zone'), '?')
            ORDER BY marks.ts, marks.event_id
        )
),

runs AS (
    SELECT
        turned.*,
        sum(CASE WHEN turned.pause THEN 1 ELSE 0 END) OVER (
            PARTITION BY turned.log_dir, turned.zone
            ORDER BY turned.ts, turned.event_id
        ) AS run
    FROM turned
)

SELECT
    'harness.edge_limit' AS cause,
    'root' AS role,
    'zone' AS scope_kind,
    runs.zone AS scope,
    min(runs.ts) AS ts_start,
    max(runs.ts) AS ts_end,
    max(runs.ts_error_us) AS ts_error_us,
    min(runs.clock_status) AS clock_status,
    count(*) || ' turned away by zone ' || runs.zone AS because,
    list(runs.event_id ORDER BY runs.event_id)[1:20] AS evidence
FROM runs
GROUP BY runs.log_dir, runs.zone, runs.run
