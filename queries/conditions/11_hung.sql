-- title: An engine lives, has requests, and gets nowhere
-- layer: model
-- cause: model.hung
-- needs: stalls
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
ANTI JOIN troubles
    ON
        stalls.engine = troubles.engine
        AND troubles.clock_status <> 'untied'
        AND list_has_any(
            troubles.kinds,
            (
                SELECT list(named_causes.kind)
                FROM named_causes
                WHERE named_causes.kind <> 'worker_died'
            )
        )
        AND troubles.ts >= stalls.ts_start
        AND troubles.ts <= coalesce(stalls.ts_end, troubles.ts)
