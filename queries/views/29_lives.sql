-- title: What the inner layers know of a request, with the engine that had it
-- store: table
SELECT
    life.request_id,
    life.ts_first,
    life.ts_last,
    life.event_id,
    life.user_id,
    life.project_id,
    life.tenant_id,
    life.model,
    life.engine,
    life.model_label,
    life.status,
    life.accepted,
    life.sent_on,
    life.in_engine,
    life.layers,
    engine_names.engine AS model_engine
FROM life
LEFT JOIN engine_names ON life.model_label = engine_names.label
