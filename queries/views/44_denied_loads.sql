-- title: Loads of an engine that the quota ended
-- store: table
SELECT
    marks.event_id,
    coalesce(engine_names.engine, marks.engine, '?') AS engine,
    marks.model,
    marks.ts,
    marks.ts_error_us,
    marks.clock_status
FROM marks
LEFT JOIN engine_names ON marks.engine = engine_names.label
WHERE marks.kind = 'model_load_denied' AND marks.request_id IS NULL
