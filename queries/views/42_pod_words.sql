-- title: What the host says of a pod, container or service, with the engine that is called so
-- store: table
WITH words AS (
    SELECT
        marks.event_id,
        marks.kind,
        lower(
            nullif(
                regexp_extract(
                    coalesce(
                        marks.attrs ->> '$.pod', marks.attrs ->> '$.object',
                        regexp_replace(marks.attrs ->> '$.unit', '\.service$', '')
                    ),
                    '([^/]+)$', 1
                ), ''
            )
        ) AS pod,
        lower(
            coalesce(marks.attrs ->> '$.containerName', marks.attrs ->> '$.container')
        ) AS container
    FROM marks
    WHERE
        marks.layer = 'host'
        AND marks.kind IN ('probe_kill', 'health_check_failed', 'engine_exited')
),

-- Words with dashes in them: vllm-0 is not vllm-01.
names AS (
    SELECT DISTINCT
        engine_names.engine,
        unnest(
            regexp_split_to_array(
                lower(engine_names.label || ' ' || engine_names.engine),
                '[^a-z0-9.-]+'
            )
        ) AS name
    FROM engine_names
    WHERE (SELECT count(*) FROM words) > 0
),

called AS (
    SELECT
        words.event_id,
        names.engine,
        -- The pod's name tells more than that of one of its containers.
        max(CASE WHEN names.name = words.pod THEN 2 ELSE 1 END) AS likeness
    FROM words
    INNER JOIN names ON names.name IN (words.pod, words.container)
    GROUP BY words.event_id, names.engine
    UNION ALL
    -- A service is called after its program: that is enough where there is one engine.
    SELECT
        words.event_id,
        min(names.engine) AS engine,
        0 AS likeness
    FROM words
    CROSS JOIN names
    WHERE
        words.kind = 'engine_exited'
        AND regexp_matches(
            words.pod,
            '(^|[^a-z])'
            || '(vllm|sglang|text-generation|tgi|triton|llama|ollama|lmdeploy|trtllm)'
        )
    GROUP BY words.event_id
    HAVING count(DISTINCT names.engine) = 1
)

SELECT
    called.event_id,
    min(called.engine) AS engine
FROM called
WHERE
    called.likeness = (
        SELECT max(nearest.likeness)
        FROM called AS nearest
        WHERE nearest.event_id = called.event_id
    )
GROUP BY called.event_id
HAVING count(*) = 1
