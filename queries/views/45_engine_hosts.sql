-- title: The process and the GPU of each engine, as the harness knows them
-- store: table
SELECT DISTINCT
    coalesce(engine_names.engine, marks.engine) AS engine,
    try_cast((marks.attrs ->> '$.host_pid') AS BIGINT) AS pid,
    CASE
        WHEN contains((marks.attrs ->> '$.gpu'), ':')
            THEN lower(marks.attrs ->> '$.gpu')
    END AS gpu
FROM marks
LEFT JOIN engine_names ON marks.engine = engine_names.label
WHERE
    marks.layer = 'harness'
    AND marks.engine IS NOT NULL
    AND (
        (marks.attrs ->> '$.host_pid') IS NOT NULL
        OR contains((marks.attrs ->> '$.gpu'), ':')
    )
