-- title: The edge turns clients away by its own request or connection limit
-- layer: harness
-- cause: harness.edge_limit
-- known gaps: limits with a log level below the one that was kept
WITH limits AS (
    SELECT
        marks.event_id,
        marks.log_dir,
        coalesce((marks.attrs ->> '$.zone'), '?') AS zone,
        marks.ts,
        marks.ts_error_us,
        marks.clock_status
    FROM marks
    WHERE marks.kind = 'edge_limit'
    UNION ALL
    SELECT
        reasons.event_id,
        reasons.log_dir,
        coalesce(
            (reasons.attrs ->> '$.frontend'), (reasons.attrs ->> '$.route_name'), '?'
        ) AS zone,
        reasons.ts,
        reasons.ts_error_us,
        reasons.clock_status
    FROM reasons
    WHERE list_contains(reasons.kinds, 'edge_limit')
),

turned AS (
    SELECT
        limits.*,
        limits.ts - lag(limits.ts) OVER zones > INTERVAL 60 SECOND AS pause
    FROM limits
    WINDOW
        zones AS (
            PARTITION BY limits.log_dir, limits.zone
            ORDER BY limits.ts, limits.event_id
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
