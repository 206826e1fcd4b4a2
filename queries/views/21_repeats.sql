-- title: Access records whose id occurs more than once
-- store: table
SELECT
    access.event_id,
    access.source_id,
    access.clock_id,
    access.request_id,
    access.ts_start,
    access.ts_end,
    access.ts_error_us,
    access.ts_precision_us,
    access.status,
    access.duration_ms,
    access.client,
    access.message,
    access.upstream_header_ms,
    access.upstream_addr,
    access.bytes_sent,
    access.attrs,
    access.place
FROM access
SEMI JOIN repeated ON hash(access.request_id) = repeated.id_hash
