-- title: The failed attempts, with what their access record says
-- store: table
SELECT
    attempts.attempt_id,
    attempts.request_id,
    attempts.attempt,
    attempts.ts_start,
    attempts.ts_end,
    attempts.ts_error_us,
    attempts.ts_start - micros(attempts.ts_error_us) AS ts_earliest,
    attempts.ts_end + micros(attempts.ts_error_us) AS ts_latest,
    attempts.status,
    attempts.user_id,
    attempts.project_id,
    attempts.tenant_id,
    attempts.model,
    attempts.engine,
    attempts.forwarded,
    attempts.source_id,
    log_dir(sources.path) AS log_dir,
    access.event_id IS NOT NULL AS has_access,
    access.forwarded AS edge_forwarded,
    access.client,
    access.message AS request,
    access.duration_ms,
    access.upstream_connect_ms,
    access.upstream_header_ms,
    access.upstream_response_ms,
    access.upstream_hops,
    access.upstream_addr,
    coalesce(access.upstream_hops, 0) > 0 AS tried_upstream
FROM attempts
INNER JOIN sources ON attempts.source_id = sources.source_id
LEFT JOIN access ON attempts.attempt_id = access.event_id
WHERE attempts.failed
