-- title: What the inner layers know of a request, with the engine that had it
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
    life.status,
    life.accepted,
    life.sent_on,
    life.in_engine,
    life.layer_bits,
    engine_names.engine AS model_engine
FROM life
LEFT JOIN sources ON life.model_event // 10000000000 = sources.source_id
LEFT JOIN engine_names
    ON coalesce(life.model_name, sources.clock_id) = engine_names.label
