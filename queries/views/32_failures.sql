-- title: The failed attempts, with what their access record says
-- store: table
SELECT
    attempts_failed.attempt_id,
    attempts_failed.request_id,
    attempts_failed.attempt,
    attempts_failed.ts_start,
    attempts_failed.ts_end,
    attempts_failed.ts_error_us,
    attempts_failed.status,
    attempts_failed.user_id,
    attempts_failed.project_id,
    attempts_failed.tenant_id,
    attempts_failed.model,
    coalesce(attempts_failed.engine, addressed.engine) AS engine,
    attempts_failed.forwarded,
    attempts_failed.source_id,
    log_dir(sources.path) AS log_dir,
    attempts_failed.has_access,
    attempts_failed.edge_forwarded,
    attempts_failed.duration_ms,
    attempts_failed.upstream_header_ms,
    attempts_failed.upstream_hops,
    coalesce(attempts_failed.upstream_hops, 0) > 0 AS tried_upstream,
    -- By a clock that nothing ties it is at no known time for other logs.
    coalesce(clocks.status = 'untied', FALSE) AS adrift
FROM attempts_failed
INNER JOIN sources ON attempts_failed.source_id = sources.source_id
LEFT JOIN clocks ON sources.clock_id = clocks.clock_id AND clocks.segment = 0
LEFT JOIN addressed ON attempts_failed.attempt_id = addressed.attempt_id
