-- title: The failed attempts, with what their access record says
-- store: table
WITH refused AS (
    SELECT access.*
    FROM access
    WHERE access.status >= 400
    UNION ALL
    SELECT access.*
    FROM access
    SEMI JOIN broken ON access.event_id = broken.event_id
    WHERE access.status < 400
)

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
    refused.event_id IS NOT NULL AS has_access,
    refused.forwarded AS edge_forwarded,
    refused.client,
    refused.message AS request,
    refused.duration_ms,
    refused.upstream_connect_ms,
    refused.upstream_header_ms,
    refused.upstream_response_ms,
    refused.upstream_hops,
    refused.upstream_addr,
    coalesce(refused.upstream_hops, 0) > 0 AS tried_upstream
FROM attempts
INNER JOIN sources ON attempts.source_id = sources.source_id
LEFT JOIN refused ON attempts.attempt_id = refused.event_id
WHERE attempts.failed
