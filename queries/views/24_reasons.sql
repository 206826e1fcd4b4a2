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
        CASE
            -- A proxy in the middle sees the one before it go; so it is told there.
            WHEN twins.nested
                THEN
                    list_filter(
                        events.kinds[2:],
                        LAMBDA kind: kind NOT IN ('client_closed', 'client_timeout')
                    )
            ELSE events.kinds[2:]
        END AS kinds,
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
)

SELECT
    told.event_id,
    told.attempt_id,
    told.nested,
    told.source_id,
    told.ts,
    told.ts_error_us,
    coalesce(clocks.status, 'untied') AS clock_status,
    told.layer,
    told.component,
    told.kinds[1] AS kind,
    told.kinds,
    told.severity,
    told.request_id,
    told.engine,
    told.plugin,
    told.pool,
    told.user_id,
    told.status,
    told.upstream_addr,
    told.message,
    told.attrs,
    log_dir(sources.path) AS log_dir
FROM told
INNER JOIN sources ON told.source_id = sources.source_id
LEFT JOIN clocks ON told.clock_id = clocks.clock_id AND clocks.segment = 0
WHERE len(told.kinds) > 0
