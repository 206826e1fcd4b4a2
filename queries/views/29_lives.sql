-- title: What the inner layers know of a request, with the engine that had it
-- store: table
SELECT
    life.*,
    engine_names.engine AS model_engine
FROM life
LEFT JOIN engine_names ON life.model_label = engine_names.label
