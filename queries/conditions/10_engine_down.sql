-- title: An engine is dead or does not start, from its death to the next load
-- layer: model
-- cause: *
-- known gaps: a death that no record states, of others than vLLM, SGLang and TGI; a
--     restart that logs no load marker and serves nobody; the kernel's word of a process that could be of several engines
WITH outages AS (
    SELECT
        episodes.engine,
        episodes.tied,
        episodes.ready_ts,
        episodes.part,
        max(episodes.served_ts) AS served_ts,
        min(episodes.since) AS ts_start,
        min(episodes.ts_latest) AS ts_told,
        max(episodes.ts) AS ts_last,
        min(episodes.ts_raw) AS raw_told,
        arg_min(episodes.ts_error_us, (episodes.ts, episodes.event_id)) AS ts_error_us,
        min(episodes.clock_status) AS clock_status,
        bool_or(episodes.death) AS death,
        -- Whoever shuts down loses its parts one after the other.
        bool_and(episodes.orderly)
        OR (
            arg_min(
                list_contains(episodes.kinds, 'engine_stopping'),
                (episodes.ts, episodes.event_id)
            )
            AND bool_and(
                episodes.orderly
                OR list_has_any(
                    episodes.kinds, ['engine_dead', 'worker_died', 'engine_exited']
                )
            )
        ) AS orderly,
        bool_or(episodes.orderly) AS stopped,
        bool_and(episodes.layer IN ('harness', 'host')) AS from_outside,
        list(episodes.event_id ORDER BY episodes.ts, episodes.event_id) AS evidence
    FROM episodes
    GROUP BY episodes.engine, episodes.tied, episodes.ready_ts, episodes.part
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
        AND (
            abs(date_diff('hour', told.raw_told, placed.raw_told)) <= 14
            -- No stamps, or such that count from a start: no day contradicts.
            OR coalesce(told.raw_told, TIMESTAMP '1970-01-01') < TIMESTAMP '1971-01-01'
        )
    QUALIFY count(*) OVER (PARTITION BY told.engine) = 1
),

-- How long before a death the kernel said something. Its stamps are those of the same
-- host.
near AS (
    SELECT
        outages.engine,
        outages.tied,
        outages.ready_ts,
        outages.part,
        outages.stopped,
        host_words.event_id,
        host_words.kinds,
        host_words.certain,
        CASE
            WHEN host_words.clock_status = 'untied'
                THEN date_diff('second', host_words.ts_raw, outages.raw_told)
            ELSE date_diff('second', host_words.ts, outages.ts_told)
        END AS ahead_s,
        -- Ranks that waited for a lost one say so much later.
        greatest(
            ahead_s - date_diff('second', outages.ts_start, outages.ts_told),  -- noqa: RF02
            least(ahead_s, 0)  -- noqa: RF02
        ) AS lead_s,
        CASE
            WHEN host_words.clock_status = 'untied' THEN outages.ts_start
            ELSE host_words.ts
        END AS ts
    FROM outages
    INNER JOIN host_words ON outages.engine = host_words.whose
    -- An engine that was ready or served since then died of something else.
    WHERE
        (
            outages.served_ts IS NULL
            OR outages.served_ts < outages.ts_told - to_seconds(ahead_s)  -- noqa: RF02
        )
        AND NOT EXISTS (
            SELECT 1
            FROM loads
            WHERE
                loads.engine = outages.engine
                AND loads.kind = 'engine_ready'
                AND loads.ts BETWEEN outages.ts_told - to_seconds(ahead_s)  -- noqa: RF02
                AND outages.ts_told
        )
),

-- A reason belongs to a death that it precedes or that echoed it at once; what a
-- later restart meets is another story.
reports AS (
    SELECT
        outages.engine,
        outages.tied,
        outages.ready_ts,
        outages.part,
        episodes.event_id,
        episodes.kinds,
        0 AS doubt,
        outages.ts_start AS ts,
        outages.stopped
    FROM outages
    INNER JOIN episodes
        ON
            outages.engine = episodes.engine
            AND outages.tied = episodes.tied
            AND outages.ready_ts IS NOT DISTINCT FROM episodes.ready_ts
            AND outages.part = episodes.part
            -- A log without stamps tells of one trouble, so far as can be seen.
            AND coalesce(episodes.ts <= outages.ts_told + INTERVAL 8 SECOND, TRUE)
    UNION ALL
    SELECT
        outages.engine,
        outages.tied,
        outages.ready_ts,
        outages.part,
        episodes.event_id,
        episodes.kinds,
        0 AS doubt,
        outages.ts_start AS ts,
        outages.stopped
    FROM outages
    INNER JOIN pairs ON outages.engine = pairs.engine
    INNER JOIN episodes ON pairs.engine = episodes.engine AND NOT episodes.tied
    WHERE coalesce(episodes.ts_raw <= pairs.raw_told + INTERVAL 8 SECOND, TRUE)
    UNION ALL
    -- What the kernel said long before counts only where the engine itself names no
    -- reason.
    SELECT
        near.engine,
        near.tied,
        near.ready_ts,
        near.part,
        near.event_id,
        near.kinds,
        CASE WHEN near.lead_s > 30 THEN 220 ELSE 0 END AS doubt,
        near.ts,
        near.stopped
    FROM near
    WHERE near.lead_s BETWEEN -8 AND CASE WHEN near.certain THEN 120 ELSE 30 END
),

reasons AS (
    SELECT
        reports.engine,
        reports.tied,
        reports.ready_ts,
        reports.part,
        -- Of equals the earlier: without an order the answer would change between runs.
        arg_min(
            named_causes.cause,
            (named_causes.rank + reports.doubt, named_causes.rank, reports.ts)
        ) AS cause,
        arg_min(
            reports.ts,
            (named_causes.rank + reports.doubt, named_causes.rank, reports.ts)
        ) AS ts,
        list(DISTINCT reports.event_id ORDER BY reports.event_id) AS evidence
    FROM reports
    INNER JOIN named_causes ON list_contains(reports.kinds, named_causes.kind)
    -- A worker of an engine that was told to stop is not simply gone.
    WHERE named_causes.kind <> 'worker_died' OR NOT reports.stopped
    GROUP BY reports.engine, reports.tied, reports.ready_ts, reports.part
),

-- Whoever is served by this engine again shows at its end that the outage is over: it
-- may have waited for that.
served AS (
    SELECT
        outages.engine,
        outages.tied,
        outages.ready_ts,
        outages.part,
        min(attempts.ts_end) AS ts
    FROM outages
    INNER JOIN attempts
        ON
            outages.engine = attempts.engine
            AND attempts.ts_start
            > outages.ts_told + micros(
                coalesce(outages.ts_error_us, 0) + attempts.ts_error_us
            )
    WHERE
        NOT attempts.failed
        AND (
            outages.tied
            -- Its own log knows whom it served.
            OR attempts.attempt_id IN (SELECT uncovered.event_id FROM uncovered)
        )
    GROUP BY outages.engine, outages.tied, outages.ready_ts, outages.part
),

-- Who keeps an engine notices its end late: whoever lost it before, with nobody served
-- since, met the same.
first_losses AS (
    SELECT
        outages.engine,
        outages.ready_ts,
        outages.part,
        min(lost_contacts.ts) AS ts
    FROM outages
    INNER JOIN lost_contacts
        ON
            outages.engine = lost_contacts.engine
            AND lost_contacts.ts BETWEEN outages.ts_told - INTERVAL 5 MINUTE
            AND outages.ts_told
    WHERE
        outages.from_outside
        AND NOT EXISTS (
            SELECT 1
            FROM seconds
            WHERE
                seconds.engine = outages.engine
                AND seconds.served > 0
                AND seconds.second BETWEEN lost_contacts.ts AND outages.ts_told
        )
        AND NOT EXISTS (
            SELECT 1
            FROM progress
            WHERE
                progress.engine = outages.engine
                AND progress.clock_status <> 'untied'
                AND progress.ts BETWEEN lost_contacts.ts + micros(progress.ts_error_us)
                AND outages.ts_told
        )
    GROUP BY outages.engine, outages.ready_ts, outages.part
),

-- Dead, started again, dead again before long.
deaths AS (
    SELECT
        episodes.event_id,
        episodes.engine,
        episodes.ts,
        lead(episodes.ts) OVER (
            PARTITION BY episodes.engine ORDER BY episodes.ts, episodes.event_id
        ) AS next_ts
    FROM episodes
    WHERE episodes.death AND episodes.tied AND NOT episodes.orderly
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
            AND loads.ts < deaths.next_ts
            -- A death that only the next load shows is stamped by that load.
            AND (deaths.ts < loads.ts OR deaths.event_id = loads.event_id)
    WHERE
        deaths.next_ts <= deaths.ts + INTERVAL 10 MINUTE
        -- What then was at work for a while died another death.
        AND NOT EXISTS (
            SELECT 1
            FROM loads
            WHERE
                loads.engine = deaths.engine
                AND loads.kind = 'engine_ready'
                AND loads.ts > deaths.ts
                AND loads.ts < deaths.next_ts - INTERVAL 90 SECOND
        )
)

SELECT
    CASE
        WHEN
            poison.request_id IS NOT NULL
            AND coalesce(reasons.cause, 'model.worker_died') IN (
                'model.worker_died', 'model.watchdog_kill', 'model.hung'
            )
            THEN 'model.poison_request'
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
    least(outages.ts_start, reasons.ts, first_losses.ts) AS ts_start,
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
    END
    || coalesce(
        ', as each time that request ' || poison.request_id || ' came to it', ''
    ) AS because,
    list_distinct(
        list_concat(
            coalesce(reasons.evidence, []),
            outages.evidence,
            coalesce(pairs.evidence, []),
            coalesce(poison.evidence, [])
        )
    )[1:20] AS evidence
FROM outages
LEFT JOIN reasons
    ON
        outages.engine = reasons.engine
        AND outages.tied = reasons.tied
        AND outages.ready_ts IS NOT DISTINCT FROM reasons.ready_ts
        AND outages.part = reasons.part
LEFT JOIN served
    ON
        outages.engine = served.engine
        AND outages.tied = served.tied
        AND outages.ready_ts IS NOT DISTINCT FROM served.ready_ts
        AND outages.part = served.part
LEFT JOIN pairs ON outages.engine = pairs.engine
LEFT JOIN first_losses
    ON
        outages.tied
        AND outages.engine = first_losses.engine
        AND outages.ready_ts IS NOT DISTINCT FROM first_losses.ready_ts
        AND outages.part = first_losses.part
LEFT JOIN poison ON outages.engine = poison.engine AND outages.tied
WHERE
    (outages.tied OR outages.engine NOT IN (SELECT pairs.engine FROM pairs))
    -- Whoever stops in good order and turns nobody away is in no trouble.
    AND (
        NOT outages.orderly
        OR reasons.cause IS NOT NULL
        OR EXISTS (
            SELECT 1
            FROM failures
            WHERE
                failures.status >= 500
                AND coalesce(failures.engine, outages.engine) = outages.engine
                AND may_overlap(
                    failures.ts_start, failures.ts_end, failures.ts_error_us,
                    outages.ts_start, least(outages.ready_ts, served.ts),
                    outages.ts_error_us
                )
        )
    )
