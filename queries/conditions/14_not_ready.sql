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
        ) AS ready_ts
    FROM loads
    WHERE loads.kind IN ('engine_loading', 'engine_start')
),

spans AS (
    SELECT
        loading.engine,
        loading.ready_ts,
        min(loading.ts) AS ts_start,
        max(loading.ts_error_us) AS ts_error_us,
        min(loading.clock_status) AS clock_status,
        list(loading.event_id ORDER BY loading.event_id)[1:20] AS evidence
    FROM loading
    GROUP BY loading.engine, loading.ready_ts
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
