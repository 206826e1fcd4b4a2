-- title: Which engine of the harness writes which model log
-- store: table
WITH labels AS (
    SELECT DISTINCT coalesce(events.engine, events.clock_id) AS label
    FROM events
    WHERE of_engine(events.layer, events.component)
),

names AS (
    SELECT DISTINCT events.engine
    FROM events
    WHERE events.layer = 'harness' AND events.engine IS NOT NULL
),

shared AS (
    SELECT
        coalesce(life.model_name, sources.clock_id) AS label,
        life.engine,
        count(*) AS requests
    FROM life
    INNER JOIN sources ON life.model_event // 10000000000 = sources.source_id
    WHERE life.engine IS NOT NULL
    GROUP BY coalesce(life.model_name, sources.clock_id), life.engine
),

by_ids AS (
    SELECT
        shared.label,
        arg_max(shared.engine, (shared.requests, shared.engine)) AS engine
    FROM shared
    GROUP BY shared.label
),

lonely AS (
    SELECT
        min(labels.label) AS label,
        (SELECT min(names.engine) FROM names) AS engine
    FROM labels
    HAVING count(*) = 1 AND (SELECT count(*) FROM names) = 1
)

SELECT
    labels.label,
    coalesce(
        (SELECT names.engine FROM names WHERE names.engine = labels.label),
        by_ids.engine,
        lonely.engine,
        labels.label
    ) AS engine,
    coalesce(
        (SELECT names.engine FROM names WHERE names.engine = labels.label),
        by_ids.engine,
        lonely.engine
    ) IS NOT NULL AS known
FROM labels
LEFT JOIN by_ids ON labels.label = by_ids.label
LEFT JOIN lonely ON labels.label = lonely.label
