-- title: Access records: one finished exchange each; the stamp is its end
SELECT
    events.event_id,
    events.source_id,
    events.clock_id,
    events.request_id,
    -- Adding an interval costs three times as much.
    make_timestamp(
        epoch_us(events.ts) - CAST(coalesce(events.duration_ms * 1000, 0) AS BIGINT)
    ) AS ts_start,
    events.ts AS ts_end,
    events.ts_precision_us,
    coalesce(events.ts_error_us, events.ts_precision_us) AS ts_error_us,
    events.status,
    events.duration_ms,
    events.upstream_header_ms,
    events.upstream_hops,
    events.forwarded,
    events.user_id,
    events.project_id,
    events.tenant_id,
    events.model,
    events.client,
    events.component,
    events.upstream_addr,
    events.bytes_sent,
    events.message,
    events.attrs,
    -- Which proxy of a log, and on which side of it: a mesh logs both in one file.
    coalesce(events.host, '') || '|' || CASE
        WHEN events.component = 'envoy'
            THEN coalesce(split_part(events.attrs ->> '$.upstream_cluster', '|', 1), '')
        ELSE ''
    END AS place
FROM events
WHERE events.kind = 'access'
