-- title: An engine loads its model for the first time or as planned
-- layer: model
-- cause: model.not_ready
-- known gaps: engines that log no load marker; loads whose log no clock ties
WITH loading AS (
    SELECT
        loads.*,
        (
            SELECT min(ready.ts)
            FROM loads AS ready
            WHERE
                ready.kind = 'engine_ready'
                AND ready.engine = loads.engine
                AND ready.ts > loads.ts
        ) AS loaded_ts,
        (
            SELECT min(seconds.second)
            FROM seconds
            WHERE
                seconds.engine = loads.engine
                AND seconds.served > 0
                AND seconds.second > loads.ts + micros(loads.ts_error_us)
        ) AS served_ts
    FROM loads
    WHERE loads.kind IN ('engine_loading', 'engine_start')
),

-- Some do not say when they are ready; whoever is served shows it.
bounded AS (
    SELECT
        loading.*,
        coalesce(loading.loaded_ts, loading.served_ts) AS ready_ts
    FROM loading
),

spans AS (
    SELECT
        bounded.engine,
        bounded.ready_ts,
        min(bounded.ts) AS ts_start,
        max(bounded.ts_error_us) AS ts_error_us,
        min(bounded.clock_status) AS clock_status,
        list(bounded.event_id ORDER BY bounded.event_id)[1:20] AS evidence
    FROM bounded
    GROUP BY bounded.engine, bounded.ready_ts
)

SELECT
    'model.not_ready' AS cause,
    'root' AS role,
    'engine' AS scope_kind,
    spans.engine AS scope,
    spans.ts_start,
    spans.ready_ts AS ts_end,
    spans.ts_error_us,
    spans.clock_status,
    spans.engine || ' was loading its model' AS because,
    spans.evidence
FROM spans
-- A load that nobody met is none of our business.
SEMI JOIN failures
    ON
        failures.status IN (502, 503, 504)
        AND (
            coalesce(failures.engine, spans.engine) = spans.engine
            OR spans.engine IN (
                SELECT engine_names.engine
                FROM engine_names
                WHERE NOT engine_names.known
            )
        )
        AND may_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            spans.ts_start, spans.ready_ts, spans.ts_error_us
        )
-- A load after a death belongs to the outage; one that failed is a failure.
WHERE
    spans.ready_ts IS NOT NULL
    AND NOT EXISTS (
        SELECT 1
        FROM conditions
        WHERE
            conditions.scope_kind = 'engine'
            AND conditions.cause NOT IN ('model.not_ready', 'model.slow')
            AND conditions.scope = spans.engine
            AND may_overlap(
                spans.ts_start, spans.ready_ts, spans.ts_error_us,
                conditions.ts_start, conditions.ts_end, conditions.ts_error_us
            )
    )
