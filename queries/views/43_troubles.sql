-- title: Records of an engine's death or failed start, its own and the harness's
-- store: table
WITH words AS (
    SELECT
        marks.event_id,
        coalesce(engine_names.engine, marks.engine) AS engine,
        marks.ts,
        marks.ts_raw,
        marks.ts_error_us,
        marks.clock_status,
        marks.clock_id,
        marks.layer,
        marks.severity,
        marks.kinds,
        -- How long it had been so when the record was written.
        coalesce(
            1000000 * try_cast((marks.attrs ->> '$.timeout_s') AS DOUBLE),
            1000 * try_cast(
                regexp_extract(marks.message, 'ran for (\d+) milliseconds', 1) AS DOUBLE
            ),
            0
        ) AS waited_us
    FROM marks
    LEFT JOIN engine_names ON marks.engine = engine_names.label
    WHERE
        marks.request_id IS NULL
        AND marks.engine IS NOT NULL
        AND (
            (
                marks.layer = 'model'
                AND marks.component <> 'kernel'
                AND coalesce(marks.severity, 'error') IN ('error', 'critical')
            )
            OR (
                marks.layer = 'harness'
                AND marks.kind IN ('engine_exited', 'engine_start_failed')
                AND coalesce((marks.attrs ->> '$.exit_code'), '') <> '0'
            )
        )
),

-- The last work before the record, of engines that tell of it.
worked AS (
    SELECT
        words.event_id,
        progress.ts
    FROM words
    ASOF INNER JOIN (
        SELECT
            progress.clock_id,
            progress.ts
        FROM progress
        WHERE progress.moving
    ) AS progress ON words.clock_id = progress.clock_id AND words.ts >= progress.ts
    WHERE
        list_has_any(
            words.kinds, ['watchdog_kill', 'engine_rpc_timeout', 'engine_unhealthy']
        )
),

judged AS (
    SELECT
        words.*,
        worked.ts AS worked_ts,
        coalesce(worked.ts < words.ts - INTERVAL 15 SECOND, FALSE) AS hung
    FROM words
    LEFT JOIN worked ON words.event_id = worked.event_id
)

SELECT
    judged.event_id,
    judged.engine,
    judged.ts,
    CASE
        WHEN judged.hung THEN judged.worked_ts
        WHEN list_contains(judged.kinds, 'nccl_timeout')
            THEN judged.ts - micros(judged.waited_us)
        ELSE judged.ts
    END AS since,
    judged.ts_raw,
    judged.ts_error_us,
    judged.clock_status,
    judged.layer,
    CASE
        WHEN judged.hung THEN list_append(judged.kinds, 'hung')
        ELSE judged.kinds
    END AS kinds,
    list_has_any(
        judged.kinds, ['engine_dead', 'worker_died', 'engine_exited', 'watchdog_kill']
    ) AS death
FROM judged
WHERE
    judged.hung
    OR list_has_any(
        judged.kinds,
        ['engine_dead', 'worker_died', 'engine_exited', 'engine_start_failed']
    )
    OR list_has_any(
        judged.kinds, (SELECT list(named_causes.kind) FROM named_causes)
    )
