-- title: What the inner layers know of a request: who asked, for what, where it went
-- store: spill
SELECT
    events.request_id,
    min(events.ts) AS ts_first,
    max(events.ts) AS ts_last,
    min(events.event_id) AS event_id,
    arg_min(events.user_id, events.event_id)
    FILTER (WHERE events.user_id IS NOT NULL) AS user_id,
    arg_min(events.project_id, events.event_id)
    FILTER (WHERE events.project_id IS NOT NULL) AS project_id,
    arg_min(events.tenant_id, events.event_id)
    FILTER (WHERE events.tenant_id IS NOT NULL) AS tenant_id,
    arg_min(events.model, events.event_id)
    FILTER (WHERE events.model IS NOT NULL) AS model,
    arg_max(events.engine, events.event_id)
    FILTER (WHERE events.engine IS NOT NULL AND events.layer = 'harness') AS engine,
    -- The name of its clock, which the views below put where this is null, would be held
    -- for each request.
    arg_max_null(events.engine, events.event_id)
    FILTER (WHERE events.layer = 'model') AS model_name,
    max(events.event_id) FILTER (WHERE events.layer = 'model') AS model_event,
    arg_max(events.status, events.event_id)
    FILTER (WHERE events.status IS NOT NULL) AS status,
    bool_or(events.kind = 'request_accepted') AS accepted,
    bool_or(events.kind = 'request_forwarded') AS sent_on,
    bool_or(events.kind = 'request_completed') AS completed,
    bool_or(
        events.layer = 'model'
        AND events.kind IN (
            'request_received', 'request_added', 'request_finished',
            'request_aborted', 'request_engine_dead'
        )
    ) AS in_engine,
    bit_or(layer_bit(events.layer)) AS layer_bits
FROM events
WHERE
    events.request_id IS NOT NULL
    AND events.kind <> 'access'
    -- As ranges too, since those skip row groups of access records.
    AND (events.kind < 'access' OR events.kind > 'access')
GROUP BY events.request_id
