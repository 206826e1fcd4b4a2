-- title: Quota that nobody uses waits to be given back
-- layer: quota
-- cause: quota.reclamation_lag
-- needs: lagging
-- known gaps: reservations of other users in the same project or tenant pool
SELECT
    'quota.reclamation_lag' AS cause,
    'root' AS role,
    'user' AS scope_kind,
    lagging.user_id AS scope,
    min(lagging.ts) AS ts_start,
    max(lagging.ts) AS ts_end,
    max(lagging.ts_error_us) AS ts_error_us,
    min(lagging.clock_status) AS clock_status,
    'reservations of ' || lagging.user_id
    || ' are settled but not yet given back' AS because,
    list_sort(
        list_distinct(
            list_concat(
                flatten(list(lagging.evidence)), list(lagging.event_id)
            )
        )
    )[1:40] AS evidence
FROM lagging
GROUP BY lagging.user_id
