-- title: The quota ended the load of an engine, until it is ready after all
-- layer: quota
-- cause: quota.model_load_denied
-- needs: denied_loads
-- known gaps: a load whose engine the record does not name
WITH bounded AS (
    SELECT
        denied_loads.*,
        (
            SELECT min(loads.ts)
            FROM loads
            WHERE
                loads.kind = 'engine_ready'
                AND loads.engine = denied_loads.engine
                AND loads.ts > denied_loads.ts
        ) AS ready_ts
    FROM denied_loads
)

SELECT
    'quota.model_load_denied' AS cause,
    'root' AS role,
    'engine' AS scope_kind,
    bounded.engine AS scope,
    min(bounded.ts) AS ts_start,
    bounded.ready_ts AS ts_end,
    max(bounded.ts_error_us) AS ts_error_us,
    min(bounded.clock_status) AS clock_status,
    'the quota ended the load of ' || bounded.engine AS because,
    list(bounded.event_id ORDER BY bounded.event_id)[1:20] AS evidence
FROM bounded
GROUP BY bounded.engine, bounded.ready_ts
