-- title: Starts, loads and readiness of engines
-- store: table
SELECT
    marks.event_id,
    coalesce(engine_names.engine, marks.engine) AS engine,
    marks.ts,
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
