-- title: Access records that say themselves why they ended so
-- store: table
WITH told AS (
    SELECT
        events.event_id,
        coalesce(twins.first_event_id, events.event_id) AS attempt_id,
        coalesce(twins.nested, FALSE) AS nested,
        events.source_id,
        events.clock_id,
        events.ts,
        coalesce(events.ts_error_us, events.ts_precision_us) AS ts_error_us,
        events.layer,
        events.component,
        events.kinds[2:] AS kinds,
        events.severity,
        events.request_id,
        events.engine,
        events.plugin,
        events.pool,
        events.user_id,
        events.status,
        events.upstream_addr,
        events.message,
        events.attrs
    FROM events
    LEFT JOIN twins ON events.event_id = twins.event_id
    WHERE events.kind = 'access' AND events.kinds IS NOT NULL
),

-- A proxy in the middle sees the one before it go; why, is told there.
counted AS (
    SELECT
        told.* EXCLUDE (kinds),
        CASE
            WHEN told.nested
                THEN
                    list_filter(
                        told.kinds,
                        LAMBDA kind: kind NOT IN ('client_closed', 'client_timeout')
                    )
            ELSE told.kinds
        END AS kinds
    FROM told
)

SELECT
    counted.event_id,
    counted.attempt_id,
    counted.nested,
    counted.source_id,
    counted.ts,
    counted.ts_error_us,
    coalesce(clocks.status, 'untied') AS clock_status,
    counted.layer,
    counted.component,
    counted.kinds[1] AS kind,
    counted.kinds,
    counted.severity,
    counted.request_id,
    counted.engine,
    counted.plugin,
    counted.pool,
    counted.user_id,
    counted.status,
    counted.upstream_addr,
    counted.message,
    counted.attrs,
    log_dir(sources.path) AS log_dir
FROM counted
INNER JOIN sources ON counted.source_id = sources.source_id
LEFT JOIN clocks ON counted.clock_id = clocks.clock_id AND clocks.segment = 0
WHERE len(counted.kinds) > 0
