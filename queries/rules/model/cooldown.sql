-- title: The model's route rests, for what a request before it met
-- layer: model
-- cause: *
-- role: root
-- precedence: 512
-- needs: own
-- known gaps: routes that rest longer than a minute, or for a failure that names nothing
WITH
-- A gateway that gives a route a rest says when to come again.
resting AS (
    SELECT
        own.attempt_id,
        own.event_id,
        own.event_id // 10000000000 AS source_id,
        own.ts
    FROM own
    INNER JOIN events ON own.event_id = events.event_id
    WHERE
        own.kind = 'no_route'
        AND regexp_matches(events.message, '(?i)try again|cool ?down')
),

reasons_to_rest AS (
    SELECT
        named_causes.kind,
        named_causes.cause,
        named_causes.rank
    FROM named_causes
    UNION ALL
    SELECT
        others.kind,
        others.cause,
        others.rank
    FROM (
        VALUES
        ('engine_dead', 'model.engine_dead', 400),
        ('provider_limit', 'harness.provider_limit', 410),
        ('connect_refused', 'harness.connect_refused', 420),
        ('dns_failure', 'harness.dns_failure', 430),
        ('tls_handshake', 'harness.tls_handshake', 440),
        ('upstream_closed', 'harness.upstream_closed', 450),
        ('upstream_timeout', 'harness.upstream_timeout', 460)
    ) AS others (kind, cause, rank)
),

-- In the same log, so that no two clocks are compared.
before AS (
    SELECT
        resting.attempt_id,
        marks.event_id,
        marks.ts,
        reasons_to_rest.kind,
        reasons_to_rest.cause,
        reasons_to_rest.rank
    FROM resting
    INNER JOIN marks
        ON
            resting.source_id = marks.source_id
            AND (marks.ts, marks.event_id) < (resting.ts, resting.event_id)
            AND marks.ts >= resting.ts - INTERVAL 60 SECOND
    INNER JOIN reasons_to_rest ON list_contains(marks.kinds, reasons_to_rest.kind)
    INNER JOIN failures ON resting.attempt_id = failures.attempt_id
    LEFT JOIN life ON marks.request_id = life.request_id
    WHERE
        marks.request_id IS NOT NULL
        AND marks.severity = 'error'
        AND NOT list_contains(marks.kinds, 'plugin_failed')
        -- Another model's failure lets this one be.
        AND coalesce(life.model = failures.model, TRUE)
),

last_one AS (
    SELECT
        before.attempt_id,
        arg_max(before.cause, (before.ts, before.event_id, -before.rank)) AS cause,
        arg_max(before.kind, (before.ts, before.event_id, -before.rank)) AS kind,
        arg_max(before.event_id, (before.ts, before.event_id)) AS event_id
    FROM before
    GROUP BY before.attempt_id
)

SELECT
    resting.attempt_id,
    last_one.cause,
    'corroborated' AS strength,
    min(resting.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    [last_one.event_id] || list(resting.event_id ORDER BY resting.event_id)
        AS evidence,
    'its route rests since a request before met: ' || replace(last_one.kind, '_', ' ')
        AS because
FROM resting
INNER JOIN last_one ON resting.attempt_id = last_one.attempt_id
GROUP BY
    resting.attempt_id,
    last_one.cause,
    last_one.event_id,
    last_one.kind
