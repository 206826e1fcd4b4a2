-- title: What the kernel says of processes and GPUs that can be an engine's, and of whose
-- store: table
WITH words AS (
    SELECT
        marks.event_id,
        marks.ts,
        marks.ts_raw,
        marks.ts_error_us,
        marks.clock_status,
        marks.kinds,
        try_cast((marks.attrs ->> '$.pid') AS BIGINT) AS pid,
        -- One of the OOM killer's two lines names the pod.
        max(replace((marks.attrs ->> '$.pod'), '_', '-')) OVER (
            PARTITION BY marks.clock_id, (marks.attrs ->> '$.pid')
        ) AS pod,
        -- Bus and device; some write the domain with four digits, some with eight.
        nullif(
            regexp_extract(
                lower(marks.attrs ->> '$.pci'),
                '([0-9a-f]{2}:[0-9a-f]{2})(\.[0-9a-f])?$', 1
            ), ''
        ) AS gpu,
        regexp_matches(
            coalesce((marks.attrs ->> '$.process'), ''),
            '(?i)^ray(let|::|$)|^python[0-9.]*$|^pt_main_thread'
        ) AS any_python,
        marks.component = 'kernel'
        AND (marks.attrs ->> '$.process') IS NULL
        AND NOT list_contains(marks.kinds, 'host_oom_kill') AS nobody,
        regexp_matches(
            coalesce((marks.attrs ->> '$.process'), marks.message),
            '(?i)vllm|sglang|text-generation|triton|llama|lmdeploy|tensorrt|trtllm'
        ) AS named
    FROM marks
    WHERE
        marks.component IN ('kernel', 'systemd', 'kubernetes')
        AND list_has_any(
            marks.kinds, (SELECT list(named_causes.kind) FROM named_causes)
        )
),

placed AS (
    SELECT
        words.event_id,
        min(engine_hosts.engine) AS engine,
        bool_or(engine_hosts.pid = words.pid OR engine_hosts.pod = words.pod) AS certain
    FROM words
    INNER JOIN engine_hosts
        ON
            words.pid = engine_hosts.pid
            OR contains(engine_hosts.gpu, words.gpu)
            OR engine_hosts.pod = words.pod
    GROUP BY words.event_id
    HAVING count(DISTINCT engine_hosts.engine) = 1
)

SELECT
    words.event_id,
    words.ts,
    words.ts_raw,
    words.ts_error_us,
    words.clock_status,
    words.kinds,
    words.gpu,
    placed.engine,
    words.named
FROM words
LEFT JOIN placed ON words.event_id = placed.event_id
WHERE
    placed.certain IS TRUE
    OR (
        words.named
        -- What is called like an engine in another pod is another one.
        AND (
            words.pod IS NULL
            OR NOT EXISTS (
                SELECT 1
                FROM engine_hosts
                WHERE engine_hosts.pod IS NOT NULL
            )
        )
    )
    OR words.nobody
    -- Any program can be called python: the harness's numbers tell which is meant.
    OR (
        words.any_python
        AND NOT EXISTS (
            SELECT 1
            FROM engine_hosts
            WHERE engine_hosts.pid IS NOT NULL OR engine_hosts.pod IS NOT NULL
        )
    )
