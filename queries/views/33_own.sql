-- title: Records that carry the id of a failed attempt or are its own reason, each of one
-- store: spill
WITH sent AS (
    SELECT
        claims.attempt_id,
        claims.event_id // 10000000000 AS source_id,
        max(claims.event_id) AS event_id
    FROM claims
    WHERE claims.sends
    GROUP BY claims.attempt_id, claims.event_id // 10000000000
)

SELECT
    claims.attempt_id,
    events.event_id,
    events.ts,
    coalesce(events.ts_error_us, events.ts_precision_us) AS ts_error_us,
    coalesce(clocks.status, 'untied') AS clock_status,
    events.layer,
    events.component,
    events.kind,
    coalesce(events.kinds, [events.kind]) AS kinds,
    events.severity,
    events.status,
    events.engine,
    events.plugin,
    events.pool,
    events.user_id,
    events.attrs,
    FALSE AS in_access
FROM claims
INNER JOIN events ON claims.event_id = events.event_id
LEFT JOIN clocks ON events.clock_id = clocks.clock_id AND clocks.segment = 0
LEFT JOIN sent
    ON
        claims.attempt_id = sent.attempt_id
        AND claims.event_id // 10000000000 = sent.source_id
-- A gateway that had something against it and sent it on all the same has let it go.
WHERE
    sent.event_id IS NULL
    OR events.event_id > sent.event_id
    OR list_contains(events.kinds, 'upstream_error')
    OR NOT list_has_any(
        coalesce(events.kinds, [events.kind]),
        [
            'plugin_failed', 'quota_exceeded', 'burst_limit', 'request_rate_limit',
            'token_rate_limit', 'rate_limited', 'concurrency_limit', 'queue_full',
            'queue_timeout', 'context_overflow', 'bad_request', 'auth_failed',
            'too_large', 'edge_limit', 'no_route', 'not_ready'
        ]
    )
UNION ALL
SELECT
    reasons.attempt_id,
    reasons.event_id,
    reasons.ts,
    reasons.ts_error_us,
    reasons.clock_status,
    reasons.layer,
    reasons.component,
    reasons.kind,
    reasons.kinds,
    reasons.severity,
    reasons.status,
    reasons.engine,
    reasons.plugin,
    reasons.pool,
    reasons.user_id,
    reasons.attrs,
    TRUE AS in_access
FROM reasons
SEMI JOIN failures ON reasons.attempt_id = failures.attempt_id
