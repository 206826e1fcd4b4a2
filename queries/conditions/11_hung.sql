-- title: An engine lives, has requests, and gets nowhere
-- layer: model
-- cause: model.hung
-- known gaps: engines that tell neither of their work nor of requests; a hang without
--     anybody whose time runs out
SELECT
    'model.hung' AS cause,
    'root' AS role,
    'engine' AS scope_kind,
    stalls.engine AS scope,
    stalls.ts_start,
    stalls.ts_end,
    stalls.ts_error_us,
    'tied' AS clock_status,
    stalls.engine || ' did no work for '
    || date_diff('second', stalls.ts_start, coalesce(stalls.ts_end, stalls.ts_last))
    || ' s while requests waited' AS because,
    stalls.evidence
FROM stalls
-- A hang that ends in a death with a reason is part of it.
WHERE
    NOT EXISTS (
        SELECT 1
        FROM conditions
        WHERE
            conditions.scope = stalls.engine
            AND conditions.cause NOT IN (
                'model.engine_dead', 'model.engine_restart_loop',
                'model.startup_failure'
            )
            AND may_overlap(
                conditions.ts_start, coalesce(conditions.ts_end, conditions.ts_start),
                conditions.ts_error_us,
                stalls.ts_start, stalls.ts_end, stalls.ts_error_us
            )
    )
