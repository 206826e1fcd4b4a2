-- title: The attempt was under way at a dead engine
-- layer: model
-- cause: *
-- role: root
-- precedence: 510
-- needs: conditions
-- known gaps: which of several engines an attempt was sent to, when nothing tells
WITH
-- A name that cannot be resolved is not yet an engine that is gone.
nameless AS (
    SELECT DISTINCT
        own.attempt_id,
        events.message
    FROM own
    INNER JOIN events ON own.event_id = events.event_id
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
),

asking AS (
    SELECT
        failures.attempt_id,
        failures.engine,
        failures.source_id,
        failures.adrift,
        failures.status,
        failures.ts_start,
        failures.ts_end,
        failures.ts_error_us
    FROM failures
    WHERE
        (
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
),

-- Which conditions can be meant, by engine and log, since there are few of them.
meant AS (
    SELECT
        engines.engine,
        engines.source_id,
        conditions.condition_id,
        conditions.cause,
        conditions.scope,
        conditions.ts_start,
        conditions.ts_end,
        conditions.ts_error_us
    FROM (
        SELECT DISTINCT
            asking.engine,
            asking.source_id,
            asking.adrift
        FROM asking
    ) AS engines
    INNER JOIN conditions
        ON
            conditions.scope_kind = 'engine'
            AND conditions.layer = 'model'
            AND conditions.cause <> 'model.slow'
            AND (
                (conditions.clock_status <> 'untied' AND NOT engines.adrift)
                OR (conditions.condition_id, engines.source_id) IN (
                    SELECT (same_clock.condition_id, same_clock.source_id)
                    FROM same_clock
                )
            )
            AND (
                engines.engine IS NULL
                OR engines.engine = conditions.scope
                OR NOT EXISTS (
                    SELECT 1
                    FROM engine_names
                    WHERE
                        (
                            engine_names.engine = conditions.scope
                            AND engine_names.known
                        )
                        OR engine_names.engine = engines.engine
                )
            )
),

met AS (
    SELECT
        asking.attempt_id,
        meant.cause,
        any_value(asking.status) AS status,
        list(meant.condition_id ORDER BY meant.condition_id) AS condition_ids,
        min(meant.ts_start) AS ts,
        bool_or(
            must_overlap(
                asking.ts_start, asking.ts_end, asking.ts_error_us,
                meant.ts_start, meant.ts_end, meant.ts_error_us
            )
        ) AS certain
    FROM asking
    INNER JOIN meant
        ON
            asking.engine IS NOT DISTINCT FROM meant.engine
            AND asking.source_id IS NOT DISTINCT FROM meant.source_id
            AND may_overlap(
                asking.ts_start, asking.ts_end, asking.ts_error_us,
                meant.ts_start, meant.ts_end, meant.ts_error_us
            )
    WHERE
        -- It is where it is the engine's name, or there is no other engine.
        coalesce(asking.engine = meant.scope, FALSE)
        OR (SELECT count(*) FROM known_engines) <= 1
        OR NOT EXISTS (
            SELECT 1
            FROM nameless
            WHERE
                nameless.attempt_id = asking.attempt_id
                AND NOT contains(
                    lower(coalesce(nameless.message, '')), lower(meant.scope)
                )
        )
    GROUP BY asking.attempt_id, meant.cause
),

-- Conditions are numbered from 1: their numbers are places in these lists.
known AS (
    SELECT
        list(conditions.evidence ORDER BY conditions.condition_id) AS evidence,
        list(conditions.because ORDER BY conditions.condition_id) AS because
    FROM conditions
),

-- Many attempts met the same ones.
sets AS (
    SELECT
        alike.condition_ids,
        known.evidence,
        known.because
    FROM (SELECT DISTINCT met.condition_ids FROM met) AS alike
    CROSS JOIN known
),

told AS (
    SELECT
        sets.condition_ids,
        flatten(
            list_transform(sets.condition_ids, LAMBDA id: sets.evidence[id])
        )[1:20] AS evidence,
        list_min(
            list_transform(sets.condition_ids, LAMBDA id: sets.because[id])
        ) AS because
    FROM sets
)

SELECT
    met.attempt_id,
    met.cause,
    'corroborated' AS strength,
    met.ts,
    met.condition_ids[1] AS condition_id,
    NOT met.certain AS clock_sensitive,
    told.evidence,
    'status ' || coalesce(met.status::VARCHAR, '?') || ' while ' || told.because
        AS because
FROM met
INNER JOIN told ON met.condition_ids = told.condition_ids
