-- title: Starts, loads and readiness of engines
-- store: table
SELECT
    marks.event_id,
    coalesce(engine_names.engine, marks.engine) AS engine,
    -- By a borrowed stamp it was ready between two others. Until it served somebody, what
    -- failed shows that it was not.
    marks.ts + CASE
        WHEN marks.kind = 'engine_ready'
            THEN micros(least(coalesce(marks.late_us, 0), 600000000))
        ELSE INTERVAL 0 SECOND
    END AS ts,
    marks.ts_error_us,
    marks.clock_status,
    marks.layer,
    marks.kind,
    (marks.attrs ->> '$.gpu') AS gpu
FROM marks
LEFT JOIN engine_names ON marks.engine = engine_names.label
WHERE
    (marks.layer = 'model' AND marks.kind IN ('engine_ready', 'engine_loading'))
    OR (
        marks.layer = 'harness'
        AND marks.kind = 'engine_start'
        AND marks.engine IS NOT NULL
    )
