-- title: Records of an engine's death or failed start, its own and the harness's
-- store: table
WITH
-- A gateway with one engine need not say whose load failed, where it says why.
unnamed AS (
    SELECT
        marks.event_id,
        coalesce(
            (SELECT min(known_engines.engine) FROM known_engines), marks.model, 'engine'
        ) AS engine
    FROM marks
    WHERE
        marks.layer = 'harness'
        AND marks.engine IS NULL
        AND marks.severity IN ('error', 'critical')
        AND list_has_any(marks.kinds, ['engine_exited', 'engine_start_failed'])
        AND list_has_any(
            marks.kinds, (SELECT list(named_causes.kind) FROM named_causes)
        )
        AND (SELECT count(*) FROM known_engines) <= 1
),

words AS (
    SELECT
        marks.event_id,
        coalesce(
            pod_words.engine, engine_names.engine, marks.engine, unnamed.engine
        ) AS engine,
        marks.ts,
        marks.ts_raw,
        marks.ts_error_us,
        coalesce(marks.late_us, 0) AS late_us,
        marks.clock_status,
        marks.clock_id,
        marks.layer,
        marks.severity,
        CASE
            WHEN marks.kind = 'probe_kill'
                THEN list_append(marks.kinds, 'watchdog_kill')
            -- Tokens of another model's tokenizer point past the end of a table.
            WHEN
                list_contains(marks.kinds, 'device_assert')
                AND EXISTS (
                    SELECT 1
                    FROM marks AS warnings
                    WHERE
                        warnings.kind = 'tokenizer_mismatch'
                        AND warnings.severity = 'warning'
                        AND warnings.request_id IS NULL
                        AND warnings.clock_id = marks.clock_id
                        AND warnings.ts <= marks.ts
                )
                THEN list_append(marks.kinds, 'tokenizer_mismatch')
            -- NaN spoils the answer of a request: an engine that ends with one of nobody
            -- has died of it.
            WHEN
                list_has_any(marks.kinds, ['engine_dead', 'worker_died'])
                AND EXISTS (
                    SELECT 1
                    FROM marks AS numbers
                    WHERE
                        list_contains(numbers.kinds, 'nan_output')
                        AND numbers.request_id IS NULL
                        AND numbers.severity IN ('error', 'critical')
                        AND numbers.clock_id = marks.clock_id
                        AND numbers.ts BETWEEN marks.ts - INTERVAL 8 SECOND AND marks.ts
                )
                THEN list_append(marks.kinds, 'nan_death')
            ELSE marks.kinds
        END AS kinds,
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
    LEFT JOIN pod_words ON marks.event_id = pod_words.event_id
    LEFT JOIN unnamed ON marks.event_id = unnamed.event_id
    WHERE
        marks.request_id IS NULL
        AND coalesce(pod_words.engine, marks.engine, unnamed.engine) IS NOT NULL
        AND (
            marks.kind = 'probe_kill'
            OR (
                of_engine(marks.layer, marks.component)
                AND (
                    coalesce(marks.severity, 'error') IN ('error', 'critical')
                    OR marks.kind = 'engine_stopping'
                )
            )
            OR (
                (
                    marks.layer = 'harness'
                    OR (marks.layer = 'host' AND marks.kind = 'engine_exited')
                )
                AND list_has_any(
                    marks.kinds,
                    [
                        'engine_exited', 'engine_start_failed', 'operator_stop',
                        'watchdog_kill'
                    ]
                )
                AND coalesce((marks.attrs ->> '$.exit_code'), '') <> '0'
                AND coalesce((marks.attrs ->> '$.exit_status'), '') <> '0/SUCCESS'
            )
            -- What a gateway says of the engine that it keeps, and of no request.
            OR (
                marks.layer = 'harness'
                AND marks.severity IN ('error', 'critical')
                AND marks.status IS NULL
                AND list_has_any(
                    marks.kinds, ['cuda_oom', 'weights_corrupt', 'weights_missing']
                )
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
    UNION ALL
    -- By another clock: at the latest.
    SELECT
        words.event_id,
        progress.ts + micros(words.ts_error_us + progress.ts_error_us) AS ts
    FROM words
    ASOF INNER JOIN (
        SELECT
            progress.engine,
            progress.ts,
            progress.ts_error_us
        FROM progress
        WHERE progress.moving AND progress.clock_status <> 'untied'
    ) AS progress ON words.engine = progress.engine AND words.ts >= progress.ts
    WHERE words.layer = 'host' AND words.clock_status <> 'untied'
),

-- A death that ends a hang belongs to it from its start.
stalled AS (
    SELECT
        words.event_id,
        max(stalls.ts_start) AS ts
    FROM words
    INNER JOIN stalls
        ON
            words.engine = stalls.engine
            AND words.ts BETWEEN stalls.ts_start
            AND coalesce(stalls.ts_end, words.ts)
    WHERE
        words.clock_status <> 'untied'
        AND list_has_any(
            words.kinds,
            (
                SELECT list(named_causes.kind)
                FROM named_causes
                WHERE named_causes.kind <> 'worker_died'
            )
        )
    GROUP BY words.event_id
),

judged AS (
    SELECT
        words.*,
        worked.ts AS worked_ts,
        stalled.ts AS stalled_ts,
        -- What shoots an engine that stands still only ends its hang.
        coalesce(worked.ts < words.ts - INTERVAL 15 SECOND, FALSE)
        OR (
            stalled.ts IS NOT NULL
            AND list_has_any(
                words.kinds, ['watchdog_kill', 'engine_rpc_timeout', 'engine_unhealthy']
            )
        ) AS hung
    FROM words
    LEFT JOIN worked ON words.event_id = worked.event_id
    LEFT JOIN stalled ON words.event_id = stalled.event_id
)

SELECT
    judged.event_id,
    judged.engine,
    judged.ts,
    CASE
        WHEN judged.hung THEN coalesce(judged.worked_ts, judged.stalled_ts)
        WHEN judged.stalled_ts IS NOT NULL THEN judged.stalled_ts
        WHEN list_contains(judged.kinds, 'nccl_timeout')
            THEN judged.ts - micros(judged.waited_us)
        ELSE judged.ts
    END AS since,
    judged.ts_raw + micros(judged.late_us) AS ts_raw,
    judged.ts + micros(judged.late_us) AS ts_latest,
    judged.ts_error_us,
    judged.clock_status,
    judged.layer,
    CASE
        WHEN judged.hung THEN list_append(judged.kinds, 'hung')
        ELSE judged.kinds
    END AS kinds,
    list_has_any(
        judged.kinds,
        [
            'engine_dead', 'worker_died', 'engine_exited', 'watchdog_kill',
            'operator_stop', 'engine_stopping'
        ]
    ) AS death,
    -- An end in good order is trouble only for whoever is turned away.
    list_has_any(judged.kinds, ['operator_stop', 'engine_stopping']) AS orderly
FROM judged
WHERE
    judged.hung
    OR list_has_any(
        judged.kinds,
        [
            'engine_dead', 'worker_died', 'engine_exited', 'engine_start_failed',
            'operator_stop', 'engine_stopping'
        ]
    )
    OR list_has_any(
        judged.kinds, (SELECT list(named_causes.kind) FROM named_causes)
    )
