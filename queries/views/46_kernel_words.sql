-- title: What the kernel says of processes that can be an engine, by named cause
-- store: table
SELECT
    marks.event_id,
    marks.ts,
    marks.ts_raw,
    marks.clock_status,
    marks.kinds,
    (marks.attrs ->> '$.pci') AS pci
FROM marks
WHERE
    marks.component IN ('kernel', 'systemd')
    AND list_has_any(marks.kinds, (SELECT list(named_causes.kind) FROM named_causes))
    AND (
        (
            (marks.attrs ->> '$.process') IS NULL
            AND marks.component = 'kernel'
            AND NOT list_contains(marks.kinds, 'host_oom_kill')
        )
        OR regexp_matches(
            coalesce((marks.attrs ->> '$.process'), marks.message),
            '(?i)vllm|sglang|text-generation|triton|llama|lmdeploy|tensorrt|trtllm'
            || '|^ray(let|::|$)|^python[0-9.]*$|^pt_main_thread'
        )
    )
