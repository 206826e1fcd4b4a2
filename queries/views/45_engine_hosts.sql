-- title: The process, the GPU and the pod of each engine, by the harness and by paths
-- store: table
SELECT DISTINCT
    coalesce(engine_names.engine, marks.engine) AS engine,
    try_cast((marks.attrs ->> '$.host_pid') AS BIGINT) AS pid,
    CASE
        WHEN contains((marks.attrs ->> '$.gpu'), ':')
            THEN lower(marks.attrs ->> '$.gpu')
    END AS gpu,
    NULL::VARCHAR AS pod
FROM marks
LEFT JOIN engine_names ON marks.engine = engine_names.label
WHERE
    marks.layer = 'harness'
    AND marks.engine IS NOT NULL
    AND (
        (marks.attrs ->> '$.host_pid') IS NOT NULL
        OR contains((marks.attrs ->> '$.gpu'), ':')
    )
UNION ALL
-- The kubelet keeps logs in folders that end in the pod's uid.
SELECT DISTINCT
    coalesce(engine_names.engine, marks.engine) AS engine,
    NULL::BIGINT AS pid,
    NULL::VARCHAR AS gpu,
    regexp_extract(
        sources.path, '_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})/', 1
    ) AS pod
FROM marks
INNER JOIN sources ON marks.source_id = sources.source_id
LEFT JOIN engine_names ON marks.engine = engine_names.label
WHERE
    of_engine(marks.layer, marks.component)
    AND regexp_matches(
        sources.path, '_([0-9a-f]{8}(?:-[0-9a-f]{4}){3}-[0-9a-f]{12}|[0-9a-f]{32})/'
    )
