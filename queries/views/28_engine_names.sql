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
),

-- Who is left over on either side, and tells of an end or a failed start.
broken_logs AS (
    SELECT
        marks.engine AS label,
        min(marks.ts_raw) AS ts_raw
    FROM marks
    WHERE
        of_engine(marks.layer, marks.component)
        AND marks.request_id IS NULL
        AND marks.severity IN ('error', 'critical')
        AND marks.engine NOT IN (SELECT by_ids.label FROM by_ids)
        AND marks.engine NOT IN (SELECT names.engine FROM names)
    GROUP BY marks.engine
),

broken_names AS (
    SELECT
        marks.engine,
        min(marks.ts_raw) AS ts_raw
    FROM marks
    WHERE
        marks.layer = 'harness'
        AND list_has_any(marks.kinds, ['engine_start_failed', 'engine_exited'])
        AND marks.engine IN (SELECT names.engine FROM names)
        AND marks.engine NOT IN (SELECT by_ids.engine FROM by_ids)
        AND marks.engine NOT IN (SELECT labels.label FROM labels)
    GROUP BY marks.engine
),

by_trouble AS (
    SELECT
        min(broken_logs.label) AS label,
        min(broken_names.engine) AS engine
    FROM broken_logs
    CROSS JOIN broken_names
    HAVING
        count(*) = 1
        -- One trouble, whatever zone its log is written in.
        AND bool_and(
            abs(date_diff('hour', broken_logs.ts_raw, broken_names.ts_raw)) <= 14
            OR coalesce(broken_logs.ts_raw, TIMESTAMP '1970-01-01')
            < TIMESTAMP '1971-01-01'
        )
)

SELECT
    labels.label,
    coalesce(
        (SELECT names.engine FROM names WHERE names.engine = labels.label),
        by_ids.engine,
        lonely.engine,
        by_trouble.engine,
        labels.label
    ) AS engine,
    coalesce(
        (SELECT names.engine FROM names WHERE names.engine = labels.label),
        by_ids.engine,
        lonely.engine,
        by_trouble.engine
    ) IS NOT NULL AS known
FROM labels
LEFT JOIN by_ids ON labels.label = by_ids.label
LEFT JOIN lonely ON labels.label = lonely.label
LEFT JOIN by_trouble ON labels.label = by_trouble.label
