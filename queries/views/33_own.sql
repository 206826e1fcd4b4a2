-- title: Records that carry the id of a failed attempt or are its own reason, each of one
-- store: table
WITH numbered AS (
    SELECT
        marks.event_id,
        (marks.attrs ->> '$.call_id') AS call_id
    FROM marks
    WHERE
        marks.layer = 'harness'
        AND marks.request_id IS NULL
        AND (marks.attrs ->> '$.call_id') IS NOT NULL
),

calls AS (
    SELECT
        events.request_id,
        (events.attrs ->> '$.call_id') AS call_id
    FROM events
    SEMI JOIN failures ON events.request_id = failures.request_id
    WHERE
        (SELECT count(*) FROM numbered) > 0
        AND (events.kind < 'access' OR events.kind > 'access')
        AND (events.attrs ->> '$.call_id') IS NOT NULL
),

named AS (
    SELECT
        events.event_id,
        events.request_id
    FROM events
    SEMI JOIN failures ON events.request_id = failures.request_id
    -- As ranges, since those skip row groups of access records.
    WHERE (events.kind < 'access' OR events.kind > 'access')
    UNION
    SELECT
        parts.event_id,
        coalesce(aliases.request_id, parts.request_id) AS request_id
    FROM (
        SELECT
            marks.event_id,
            unnest(marks.id_parts) AS request_id
        FROM marks
        WHERE marks.id_parts IS NOT NULL AND marks.kind <> 'engine_dump'
    ) AS parts
    LEFT JOIN aliases ON parts.request_id = aliases.alias
    UNION
    -- A record with the call's number only, where another ties it to the request.
    SELECT
        numbered.event_id,
        calls.request_id
    FROM numbered
    INNER JOIN calls ON numbered.call_id = calls.call_id
    UNION
    -- A gateway that names requests anew, by the exchange that both saw.
    SELECT
        events.event_id,
        relayed.first_request_id AS request_id
    FROM relayed
    INNER JOIN events ON relayed.request_id = events.request_id
    WHERE (SELECT count(*) FROM relayed) > 0 AND events.kind <> 'access'
    UNION
    -- A gateway that calls the request's id its trace.
    SELECT
        traced.event_id,
        traced.request_id
    FROM (
        SELECT
            marks.event_id,
            canonical_id(
                coalesce(marks.attrs ->> '$.trace_id', marks.attrs ->> '$.traceId')
            ) AS request_id
        FROM marks
        WHERE
            marks.layer = 'harness'
            AND marks.request_id IS NULL
            AND coalesce(marks.attrs ->> '$.trace_id', marks.attrs ->> '$.traceId')
            IS NOT NULL
    ) AS traced
    SEMI JOIN failures ON traced.request_id = failures.request_id
),

-- All exchanges of these ids compete for the record, the good ones too.
exchanges AS (
    SELECT
        attempts.attempt_id,
        attempts.request_id,
        attempts.ts_start,
        attempts.ts_end,
        attempts.ts_error_us,
        attempts.failed,
        count(*) OVER (PARTITION BY attempts.request_id) AS siblings,
        row_number() OVER (
            PARTITION BY attempts.request_id
            ORDER BY attempts.ts_start ASC, attempts.attempt_id ASC
        ) AS number,
        count(*) OVER (PARTITION BY attempts.request_id, attempts.failed) AS alike,
        row_number() OVER (
            PARTITION BY attempts.request_id, attempts.failed
            ORDER BY attempts.ts_start ASC, attempts.attempt_id ASC
        ) AS number_alike
    FROM attempts
    SEMI JOIN named ON attempts.request_id = named.request_id
),

placed AS (
    SELECT
        exchanges.attempt_id,
        exchanges.failed,
        exchanges.siblings,
        exchanges.number,
        exchanges.alike,
        exchanges.number_alike,
        exchanges.ts_start,
        exchanges.ts_error_us AS attempt_error_us,
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
        events.message,
        events.attrs,
        distance_us(events.ts, exchanges.ts_start, exchanges.ts_end) AS away_us,
        count(*) OVER (
            PARTITION BY exchanges.attempt_id, events.clock_id, events.kind
        ) AS records,
        row_number() OVER (
            PARTITION BY exchanges.attempt_id, events.clock_id, events.kind
            ORDER BY events.ts ASC, events.event_id ASC
        ) AS record,
        events.severity IN ('warning', 'error') AS complains,
        count(*) OVER (
            PARTITION BY
                exchanges.attempt_id, events.clock_id,
                events.severity IN ('warning', 'error')
        ) AS complaints,
        row_number() OVER (
            PARTITION BY
                exchanges.attempt_id, events.clock_id,
                events.severity IN ('warning', 'error')
            ORDER BY events.ts ASC, events.event_id ASC
        ) AS complaint
    FROM named
    INNER JOIN events ON named.event_id = events.event_id
    INNER JOIN exchanges ON named.request_id = exchanges.request_id
    LEFT JOIN clocks ON events.clock_id = clocks.clock_id AND clocks.segment = 0
),

kept AS (
    SELECT
        placed.attempt_id,
        placed.event_id,
        placed.ts,
        placed.ts_error_us,
        placed.clock_status,
        placed.layer,
        placed.component,
        placed.kind,
        placed.kinds,
        placed.severity,
        placed.status,
        placed.engine,
        placed.plugin,
        placed.pool,
        placed.user_id,
        placed.message,
        placed.attrs,
        FALSE AS in_access
    FROM placed
    WHERE
        placed.siblings = 1
        OR (
            placed.clock_status <> 'untied'
            AND placed.away_us
            <= 2000000 + placed.ts_error_us + placed.attempt_error_us
        )
        -- Where no clock tells, the order does: as many records of a kind as attempts, or
        -- as many errors as failed ones.
        OR (
            placed.clock_status = 'untied'
            AND (
                (
                    placed.records = placed.siblings
                    AND placed.record = placed.number
                )
                OR (
                    placed.severity = 'error'
                    AND placed.failed
                    AND placed.records = placed.alike
                    AND placed.record = placed.number_alike
                )
            )
        )
    QUALIFY
        row_number() OVER (
            PARTITION BY placed.event_id
            ORDER BY
                -- As many records of a kind as attempts or failed ones: one for each.
                CASE
                    WHEN
                        placed.records = placed.siblings
                        AND placed.record = placed.number
                        THEN 0
                    WHEN
                        placed.severity = 'error'
                        AND placed.failed
                        AND placed.records = placed.alike
                        AND placed.record = placed.number_alike
                        THEN 0
                    ELSE 1
                END ASC,
                greatest(0, placed.away_us - placed.attempt_error_us) ASC,
                -- As many complaints as failed attempts, all as near: one for each.
                CASE
                    WHEN
                        placed.complains
                        AND placed.failed
                        AND placed.complaints = placed.alike
                        AND placed.complaint = placed.number_alike
                        THEN 0
                    ELSE 1
                END ASC,
                placed.ts_start DESC,
                placed.attempt_id ASC
        ) = 1
        AND placed.failed
),

sent AS (
    SELECT
        kept.attempt_id,
        kept.event_id // 10000000000 AS source_id,
        max(kept.event_id) AS event_id
    FROM kept
    WHERE kept.layer = 'harness' AND kept.kind = 'request_forwarded'
    GROUP BY kept.attempt_id, kept.event_id // 10000000000
)

SELECT kept.*
FROM kept
LEFT JOIN sent
    ON
        kept.attempt_id = sent.attempt_id
        AND kept.event_id // 10000000000 = sent.source_id
-- A gateway that had something against it and sent it on all the same has let it go.
WHERE
    sent.event_id IS NULL
    OR kept.event_id > sent.event_id
    OR list_contains(kept.kinds, 'upstream_error')
    OR NOT list_has_any(
        kept.kinds,
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
    reasons.message,
    reasons.attrs,
    TRUE AS in_access
FROM reasons
SEMI JOIN failures ON reasons.attempt_id = failures.attempt_id
