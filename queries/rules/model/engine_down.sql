-- title: The attempt was under way at a dead engine
-- layer: model
-- cause: *
-- role: root
-- precedence: 510
-- known gaps: which of several engines an attempt was sent to, when nothing tells
WITH
-- A name that cannot be resolved is not yet an engine that is gone.
nameless AS (
    SELECT DISTINCT
        own.attempt_id,
        own.message
    FROM own
    WHERE list_contains(own.kinds, 'dns_failure')
    UNION
    SELECT DISTINCT
        edge_matches.attempt_id,
        edge_matches.upstream_addr AS message
    FROM edge_matches
    WHERE edge_matches.kind = 'dns_failure'
),

-- What stands in an engine's own log needs no other clock.
cited AS (
    SELECT DISTINCT
        evidence.condition_id,
        sources.clock_id,
        sources.layer = 'model' AS inside
    FROM (
        SELECT
            conditions.condition_id,
            unnest(conditions.evidence) // 10000000000 AS source_id
        FROM conditions
    ) AS evidence
    INNER JOIN sources ON evidence.source_id = sources.source_id
),

same_clock AS (
    SELECT
        cited.condition_id,
        sources.source_id
    FROM cited
    INNER JOIN sources ON cited.clock_id = sources.clock_id
    WHERE
        cited.condition_id NOT IN (
            SELECT others.condition_id
            FROM cited AS others
            WHERE NOT others.inside
        )
)

SELECT
    failures.attempt_id,
    conditions.cause,
    'corroborated' AS strength,
    min(conditions.ts_start) AS ts,
    min(conditions.condition_id) AS condition_id,
    NOT bool_or(
        must_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
    ) AS clock_sensitive,
    flatten(list(conditions.evidence ORDER BY conditions.condition_id))[1:20]
        AS evidence,
    'status ' || coalesce(any_value(failures.status)::VARCHAR, '?') || ' while '
    || min(conditions.because) AS because
FROM failures
INNER JOIN conditions
    ON
        conditions.scope_kind = 'engine'
        AND conditions.layer = 'model'
        AND conditions.cause <> 'model.slow'
        AND (
            conditions.clock_status <> 'untied'
            OR (conditions.condition_id, failures.source_id) IN (
                SELECT (same_clock.condition_id, same_clock.source_id)
                FROM same_clock
            )
        )
        AND (
            failures.engine IS NULL
            OR failures.engine = conditions.scope
            OR NOT EXISTS (
                SELECT 1
                FROM engine_names
                WHERE
                    (engine_names.engine = conditions.scope AND engine_names.known)
                    OR engine_names.engine = failures.engine
            )
        )
        AND may_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
WHERE
    -- It is where it is the engine's name, or there is no other engine.
    (
        coalesce(failures.engine = conditions.scope, FALSE)
        OR (SELECT count(*) FROM known_engines) <= 1
        OR NOT EXISTS (
            SELECT 1
            FROM nameless
            WHERE
                nameless.attempt_id = failures.attempt_id
                AND NOT contains(
                    lower(coalesce(nameless.message, '')), lower(conditions.scope)
                )
        )
    )
    AND (
        -- A request that no server's exchange is known of has no status.
        coalesce(failures.status, 500) IN (500, 502, 503, 504)
        OR failures.status < 400
        -- A gateway that has given all engines up may call that a limit.
        OR (
            failures.status = 429
            AND EXISTS (
                SELECT 1
                FROM own
                WHERE own.attempt_id = failures.attempt_id AND own.kind = 'no_route'
            )
        )
    )
    AND (
        failures.forwarded
        OR failures.edge_forwarded
        OR failures.tried_upstream
        OR failures.edge_forwarded IS NULL
        -- A gateway that has given the engine up refuses before it forwards.
        OR EXISTS (
            SELECT 1
            FROM own
            WHERE
                own.attempt_id = failures.attempt_id
                AND list_has_any(
                    own.kinds,
                    ['no_route', 'not_ready', 'no_live_upstream', 'queue_timeout']
                )
        )
    )
    -- Below 400 only what was cut by the upstream, not by the client.
    AND (
        coalesce(failures.status, 500) >= 400
        OR EXISTS (
            SELECT 1
            FROM edge_matches
            WHERE
                edge_matches.attempt_id = failures.attempt_id
                AND edge_matches.kind <> 'client_closed'
        )
        OR EXISTS (
            SELECT 1
            FROM own
            WHERE
                own.attempt_id = failures.attempt_id
                AND list_has_any(
                    own.kinds,
                    [
                        'request_engine_dead', 'request_failed_engine',
                        'upstream_closed', 'upstream_reset', 'upstream_timeout'
                    ]
                )
        )
    )
GROUP BY failures.attempt_id, conditions.cause
