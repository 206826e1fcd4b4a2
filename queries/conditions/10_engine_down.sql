-- title: An engine is dead or does not start, from its death to the next load
-- layer: model
-- cause: *
-- known gaps: a death that no record states; a restart that logs no load marker and
--     serves nobody; the kernel's word where there are several engines
WITH starts AS (
    SELECT
        troubles.*,
        troubles.clock_status <> 'untied' AS tied
    FROM troubles
    -- A load that the quota ended is no failure of the engine.
    WHERE
        NOT EXISTS (
            SELECT 1
            FROM denied_loads
            WHERE
                denied_loads.engine = troubles.engine
                AND abs(date_diff('second', denied_loads.ts, troubles.ts)) <= 10
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

outages AS (
    SELECT
        bounded.engine,
        bounded.tied,
        bounded.ready_ts,
        min(bounded.since) AS ts_start,
        min(bounded.ts) AS ts_told,
        max(bounded.ts) AS ts_last,
        min(bounded.ts_raw) AS raw_told,
        max(bounded.ts_error_us) AS ts_error_us,
        min(bounded.clock_status) AS clock_status,
        bool_or(bounded.death) AS death,
        list(bounded.event_id ORDER BY bounded.ts, bounded.event_id) AS evidence
    FROM bounded
    GROUP BY bounded.engine, bounded.tied, bounded.ready_ts
),

-- An engine that never served has no clock. Where its log and the harness tell of
-- one trouble each, within the reach of a wrong time zone, it is the same.
pairs AS (
    SELECT
        told.engine,
        told.evidence,
        told.raw_told,
        told.ready_ts,
        told.death
    FROM outages AS told
    INNER JOIN outages AS placed ON told.engine = placed.engine AND placed.tied
    WHERE
        NOT told.tied
        AND abs(date_diff('hour', told.raw_told, placed.raw_told)) <= 14
    QUALIFY count(*) OVER (PARTITION BY told.engine) = 1
),

-- A reason belongs to a death that it precedes or that echoed it at once; what a
-- later restart meets is another story.
reports AS (
    SELECT
        outages.engine,
        outages.tied,
        outages.ready_ts,
        bounded.event_id,
        bounded.kinds
    FROM outages
    INNER JOIN bounded
        ON
            outages.engine = bounded.engine
            AND outages.tied = bounded.tied
            AND outages.ready_ts IS NOT DISTINCT FROM bounded.ready_ts
            AND bounded.ts <= outages.ts_told + INTERVAL 8 SECOND
    UNION ALL
    SELECT
        outages.engine,
        outages.tied,
        outages.ready_ts,
        bounded.event_id,
        bounded.kinds
    FROM outages
    INNER JOIN pairs ON outages.engine = pairs.engine
    INNER JOIN bounded ON pairs.engine = bounded.engine AND NOT bounded.tied
    WHERE bounded.ts_raw <= pairs.raw_told + INTERVAL 8 SECOND
    UNION ALL
    -- The kernel knows no engine, so it counts where there is but one. Its stamps
    -- are those of the same host.
    SELECT
        outages.engine,
        outages.tied,
        outages.ready_ts,
        kernel_words.event_id,
        kernel_words.kinds
    FROM outages
    INNER JOIN kernel_words
        ON
            CASE
                WHEN kernel_words.clock_status = 'untied'
                    THEN date_diff('second', outages.raw_told, kernel_words.ts_raw)
                ELSE date_diff('second', outages.ts_told, kernel_words.ts)
            END BETWEEN -30 AND 8
    WHERE
        (
            SELECT count(DISTINCT engines.engine)
            FROM (
                SELECT engine_names.engine
                FROM engine_names
                UNION ALL
                SELECT troubles.engine
                FROM troubles
            ) AS engines
        ) = 1
        AND NOT EXISTS (
            SELECT 1
            FROM loads
            WHERE
                loads.engine = outages.engine
                AND NOT starts_with(kernel_words.pci, loads.gpu)
        )
),

reasons AS (
    SELECT
        reports.engine,
        reports.tied,
        reports.ready_ts,
        arg_min(named_causes.cause, named_causes.rank) AS cause,
        list(DISTINCT reports.event_id ORDER BY reports.event_id) AS evidence
    FROM reports
    INNER JOIN named_causes ON list_contains(reports.kinds, named_causes.kind)
    GROUP BY reports.engine, reports.tied, reports.ready_ts
),

-- Whoever is served by this engine again ends the outage as well.
served AS (
    SELECT
        outages.engine,
        outages.ready_ts,
        min(attempts.ts_start) AS ts
    FROM outages
    INNER JOIN attempts
        ON
            outages.engine = attempts.engine
            AND attempts.ts_start
            > outages.ts_told + micros(outages.ts_error_us + attempts.ts_error_us)
    WHERE NOT attempts.failed AND outages.tied
    GROUP BY outages.engine, outages.ready_ts
),

-- Dead, started again, dead again.
deaths AS (
    SELECT
        starts.engine,
        starts.ts,
        lead(starts.ts) OVER (
            PARTITION BY starts.engine ORDER BY starts.ts, starts.event_id
        ) AS next_ts
    FROM starts
    WHERE starts.death AND starts.tied
),

loops AS (
    SELECT
        deaths.engine,
        deaths.ts,
        deaths.next_ts
    FROM deaths
    SEMI JOIN loads
        ON
            deaths.engine = loads.engine
            AND loads.kind IN ('engine_start', 'engine_loading')
            AND loads.clock_status <> 'untied'
            AND deaths.ts < loads.ts
            AND loads.ts < deaths.next_ts
    WHERE deaths.next_ts <= deaths.ts + INTERVAL 10 MINUTE
)

SELECT
    CASE
        WHEN reasons.cause IS NOT NULL THEN reasons.cause
        WHEN
            outages.tied
            AND EXISTS (
                SELECT 1
                FROM loops
                WHERE
                    loops.engine = outages.engine
                    AND (
                        loops.ts BETWEEN outages.ts_told AND outages.ts_last
                        OR loops.next_ts BETWEEN outages.ts_told AND outages.ts_last
                    )
            )
            THEN 'model.engine_restart_loop'
        WHEN outages.death OR pairs.death THEN 'model.engine_dead'
        ELSE 'model.startup_failure'
    END AS cause,
    'root' AS role,
    'engine' AS scope_kind,
    outages.engine AS scope,
    outages.ts_start,
    least(outages.ready_ts, served.ts) AS ts_end,
    outages.ts_error_us,
    outages.clock_status,
    outages.engine
    || CASE WHEN outages.death THEN ' died' ELSE ' failed' END
    || CASE
        WHEN reasons.cause IS NOT NULL
            THEN ' of ' || replace(reasons.cause, 'model.', '')
        WHEN outages.death THEN ''
        ELSE ' to start'
    END AS because,
    list_distinct(
        list_concat(
            coalesce(reasons.evidence, []),
            outages.evidence,
            coalesce(pairs.evidence, [])
        )
    )[1:20] AS evidence
FROM outages
LEFT JOIN reasons
    ON
        outages.engine = reasons.engine
        AND outages.tied = reasons.tied
        AND outages.ready_ts IS NOT DISTINCT FROM reasons.ready_ts
LEFT JOIN served
    ON
        outages.tied
        AND outages.engine = served.engine
        AND outages.ready_ts IS NOT DISTINCT FROM served.ready_ts
LEFT JOIN pairs ON outages.engine = pairs.engine
WHERE outages.tied OR outages.engine NOT IN (SELECT pairs.engine FROM pairs)
