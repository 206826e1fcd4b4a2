-- title: Records that say that something is wrong, or right again
-- store: spill
SELECT
    events.event_id,
    events.source_id,
    events.clock_id,
    events.line,
    events.ts,
    events.ts_raw,
    coalesce(events.ts_error_us, events.ts_precision_us) AS ts_error_us,
    -- A borrowed stamp is that of the record before; the own one may be later.
    CASE WHEN events.borrowed THEN events.ts_precision_us ELSE 0 END AS late_us,
    coalesce(clocks.status, 'untied') AS clock_status,
    events.layer,
    events.component,
    events.kind,
    coalesce(events.kinds, [events.kind]) AS kinds,
    events.severity,
    events.request_id,
    events.id_parts,
    CASE
        WHEN
            of_engine(events.layer, events.component)
            THEN coalesce(events.engine, events.clock_id)
        ELSE events.engine
    END AS engine,
    events.plugin,
    events.pool,
    events.user_id,
    events.project_id,
    events.tenant_id,
    events.model,
    events.status,
    events.quota_amount,
    events.prompt_tokens,
    events.completion_tokens,
    events.client,
    events.upstream_addr,
    events.message,
    events.attrs,
    log_dir(sources.path) AS log_dir
FROM events
INNER JOIN sources ON events.source_id = sources.source_id
LEFT JOIN clocks
    ON events.clock_id = clocks.clock_id AND clocks.segment = 0
WHERE
    events.kind NOT IN (
        'access', 'engine_access', 'gateway_access', 'other', 'request_accepted',
        'request_forwarded', 'request_completed', 'request_received',
        'request_added', 'request_finished', 'engine_stats', 'engine_progress',
        'quota_reserve', 'quota_charge', 'quota_release', 'quota_reclaim',
        'config_comment', 'gpu_sample', 'metric'
    )
    -- What failed in words that nobody knows.
    OR (
        events.kind = 'other'
        AND events.layer = 'harness'
        AND events.request_id IS NOT NULL
        AND events.status >= 400
        AND events.severity IN ('error', 'critical')
    )
