-- title: Records of an engine's trouble, by what they are part of
-- store: table
WITH
-- What killed a process is the end of its engine, also where nobody else says so.
killed AS (
    SELECT host_words.*
    FROM host_words
    WHERE
        host_words.certain
        AND (
            host_words.lost
            OR list_has_any(
                host_words.kinds, ['host_oom_kill', 'illegal_instruction', 'segfault']
            )
        )
        AND NOT EXISTS (
            SELECT 1
            FROM troubles
            WHERE
                troubles.engine = host_words.whose
                AND CASE
                    WHEN host_words.clock_status = 'untied'
                        THEN date_diff('second', host_words.ts_raw, troubles.ts_raw)
                    ELSE date_diff('second', host_words.ts, troubles.ts)
                END BETWEEN -8 AND 120
        )
),

-- A process of one engine that loads again was at work before.
loadings AS (
    SELECT
        loads.event_id,
        loads.engine,
        loads.ts,
        marks.ts_raw,
        loads.ts_error_us,
        loads.clock_status,
        loads.clock_status <> 'untied' AS tied,
        loads.kind,
        lag(loads.kind) OVER own_words AS before_kind,
        lag(loads.ts) OVER own_words AS before_ts
    FROM loads
    INNER JOIN marks ON loads.event_id = marks.event_id
    WHERE loads.layer = 'model' AND marks.component IN ('vllm', 'sglang', 'tgi')
    WINDOW own_words AS (
        PARTITION BY loads.engine, loads.clock_status <> 'untied'
        ORDER BY loads.ts, loads.event_id
    )
),

moving AS (
    SELECT
        progress.engine,
        progress.clock_status <> 'untied' AS tied,
        progress.ts
    FROM progress
    WHERE progress.moving
),

again AS (
    SELECT
        loadings.*,
        moving.ts AS alive_ts
    FROM loadings
    ASOF INNER JOIN moving
        ON
            loadings.engine = moving.engine
            AND loadings.tied = moving.tied
            AND loadings.ts > moving.ts
    WHERE
        loadings.kind = 'engine_loading'
        AND coalesce(loadings.before_kind, 'engine_ready') = 'engine_ready'
        AND coalesce(moving.ts > loadings.before_ts, TRUE)
),

-- Without a word of its end it was killed.
restarts AS (
    SELECT again.*
    FROM again
    WHERE
        NOT EXISTS (
            SELECT 1
            FROM troubles
            WHERE
                troubles.engine = again.engine
                AND (troubles.clock_status <> 'untied') = again.tied
                AND troubles.ts_latest BETWEEN again.alive_ts - INTERVAL 10 SECOND
                AND again.ts
        )
        AND NOT EXISTS (SELECT 1 FROM killed WHERE killed.whose = again.engine)
        -- What works while it loads is another one in the same log.
        AND NOT EXISTS (
            SELECT 1
            FROM moving
            WHERE
                moving.engine = again.engine
                AND moving.tied = again.tied
                AND moving.ts BETWEEN again.ts AND again.ts + INTERVAL 10 SECOND
        )
),

told AS (
    SELECT
        troubles.event_id,
        troubles.engine,
        troubles.ts,
        troubles.ts_latest,
        troubles.since,
        troubles.ts_raw,
        troubles.ts_error_us,
        troubles.clock_status,
        troubles.kinds,
        troubles.death,
        troubles.orderly,
        troubles.layer
    FROM troubles
    UNION ALL
    SELECT
        killed.event_id,
        killed.whose AS engine,
        killed.ts,
        killed.ts AS ts_latest,
        killed.ts AS since,
        killed.ts_raw,
        killed.ts_error_us,
        killed.clock_status,
        killed.kinds,
        TRUE AS death,
        FALSE AS orderly,
        'model' AS layer
    FROM killed
    UNION ALL
    SELECT
        restarts.event_id,
        restarts.engine,
        restarts.ts,
        restarts.ts AS ts_latest,
        restarts.alive_ts AS since,
        restarts.ts_raw,
        restarts.ts_error_us,
        restarts.clock_status,
        ['engine_dead'] AS kinds,
        TRUE AS death,
        FALSE AS orderly,
        'model' AS layer
    FROM restarts
),

starts AS (
    SELECT
        told.*,
        told.clock_status <> 'untied' AS tied
    FROM told
    -- A load that the quota ended is no failure of the engine.
    WHERE
        NOT EXISTS (
            SELECT 1
            FROM denied_loads
            WHERE
                denied_loads.engine = told.engine
                AND abs(date_diff('second', denied_loads.ts, told.ts)) <= 10
        )
),

bounded AS (
    SELECT
        starts.*,
        (
            SELECT min(loads.ts)
            FROM loads
            WHERE
                loads.kind = 'engine_ready'
                AND loads.engine = starts.engine
                AND (loads.clock_status <> 'untied') = starts.tied
                AND loads.ts > starts.ts
        ) AS ready_ts
    FROM starts
),

ordered AS (
    SELECT
        bounded.*,
        lag(bounded.ts_latest) OVER records AS before_ts
    FROM bounded
    WINDOW
        records AS (
            PARTITION BY bounded.engine, bounded.tied, bounded.ready_ts
            ORDER BY bounded.ts_latest, bounded.event_id
        )
),

gaps AS (
    SELECT ordered.*
    FROM ordered
    WHERE ordered.tied AND ordered.ts > ordered.before_ts + INTERVAL 8 SECOND
),

served AS (
    SELECT
        attempts.engine,
        min(attempts.ts_start) AS ts_start,
        min(attempts.ts_end) AS ts_end,
        max(attempts.ts_error_us) AS ts_error_us
    FROM attempts
    SEMI JOIN gaps ON attempts.engine = gaps.engine
    WHERE NOT attempts.failed
    GROUP BY attempts.engine, date_trunc('second', attempts.ts_start)
),

-- Some do not say that they are ready: whoever was served between two records shows
-- that the second is of another trouble.
recovered AS (
    SELECT
        gaps.event_id,
        min(served.ts_start) AS ts
    FROM gaps
    INNER JOIN served
        ON
            gaps.engine = served.engine
            AND served.ts_start
            > gaps.before_ts + micros(gaps.ts_error_us + served.ts_error_us)
            AND served.ts_end < gaps.ts - micros(gaps.ts_error_us + served.ts_error_us)
    GROUP BY gaps.event_id
)

SELECT
    ordered.event_id,
    ordered.engine,
    ordered.ts,
    ordered.ts_latest,
    ordered.since,
    ordered.ts_raw,
    ordered.ts_error_us,
    ordered.clock_status,
    ordered.kinds,
    ordered.death,
    ordered.orderly,
    ordered.layer,
    ordered.tied,
    ordered.ready_ts,
    ordered.before_ts,
    recovered.ts AS served_ts,
    count(recovered.event_id) OVER (
        PARTITION BY ordered.engine, ordered.tied, ordered.ready_ts
        ORDER BY ordered.ts_latest, ordered.event_id
    ) AS part
FROM ordered
LEFT JOIN recovered ON ordered.event_id = recovered.event_id
