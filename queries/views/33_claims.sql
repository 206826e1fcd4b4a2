-- title: Whose each record is that carries the id of a failed attempt
-- store: table
WITH several AS (
    SELECT
        repeats.request_id,
        count(*) AS siblings,
        min(repeats.event_id) AS attempt_id
    FROM repeats
    INNER JOIN numbers ON repeats.event_id = numbers.event_id
    GROUP BY repeats.request_id
),

-- Of an id that does not occur twice the failed attempt is the only one.
requests AS (
    SELECT
        failures.request_id,
        coalesce(several.siblings, 1) AS siblings,
        coalesce(several.attempt_id, failures.attempt_id) AS attempt_id
    FROM failures
    LEFT JOIN several ON failures.request_id = several.request_id
    WHERE failures.request_id IS NOT NULL
    GROUP BY ALL
),

numbered AS (
    SELECT
        marks.event_id,
        (marks.attrs ->> '$.call_id') AS call_id
    FROM marks
    WHERE
        marks.layer = 'harness'
        AND marks.request_id IS NULL
        AND (marks.attrs ->> '$.call_id') IS NOT NULL
),

called AS MATERIALIZED (
    SELECT
        numbered.event_id,
        events.request_id
    FROM numbered
    INNER JOIN events ON numbered.call_id = (events.attrs ->> '$.call_id')
    WHERE
        events.request_id IS NOT NULL
        AND events.kind <> 'access'
        -- As ranges too, since those skip row groups of access records.
        AND (events.kind < 'access' OR events.kind > 'access')
        AND (SELECT count(*) FROM numbered) > 0
),

-- What is a request's without bearing its id.
named AS (
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
        called.event_id,
        called.request_id
    FROM called
    SEMI JOIN requests ON called.request_id = requests.request_id
    UNION
    -- A gateway that names requests anew, by the exchange that both saw.
    SELECT
        events.event_id,
        relayed.first_request_id AS request_id
    FROM events
    INNER JOIN relayed ON events.request_id = relayed.request_id
    WHERE events.kind <> 'access'
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

-- Requests of several attempts, and those whose records are others' as well; by a
-- number, since texts are slow to sort.
shared AS (
    SELECT
        ids.request_id,
        row_number() OVER () AS request
    FROM (
        SELECT requests.request_id
        FROM requests
        WHERE requests.siblings > 1
        UNION
        SELECT named.request_id
        FROM named
        UNION
        SELECT events.request_id
        FROM events
        INNER JOIN named ON events.event_id = named.event_id
        WHERE events.request_id IS NOT NULL
    ) AS ids
),

single AS (
    SELECT
        requests.request_id,
        requests.attempt_id
    FROM requests
    ANTI JOIN shared ON requests.request_id = shared.request_id
    WHERE requests.siblings = 1
),

-- All exchanges of these ids compete for the record, the good ones too.
exchanges AS (
    SELECT
        attempts.attempt_id,
        shared.request,
        attempts.ts_start,
        attempts.ts_end,
        attempts.ts_error_us,
        attempts.failed,
        count(*) OVER (PARTITION BY shared.request) AS siblings,
        row_number() OVER (
            PARTITION BY shared.request
            ORDER BY attempts.ts_start ASC, attempts.attempt_id ASC
        ) AS number,
        count(*) OVER (PARTITION BY shared.request, attempts.failed) AS alike,
        row_number() OVER (
            PARTITION BY shared.request, attempts.failed
            ORDER BY attempts.ts_start ASC, attempts.attempt_id ASC
        ) AS number_alike
    FROM attempts
    INNER JOIN shared ON attempts.request_id = shared.request_id
),

told AS (
    SELECT
        events.event_id,
        shared.request,
        events.clock_id,
        events.ts,
        coalesce(events.ts_error_us, events.ts_precision_us) AS ts_error_us,
        -- What ships a log may send a line again: within a fine stamp records are one.
        CASE WHEN events.ts_precision_us < 1000000 THEN 0 ELSE events.event_id END
            AS apart,
        events.kind,
        events.layer = 'harness' AND events.kind = 'request_forwarded' AS sends,
        events.severity = 'error' AS fails,
        events.severity IN ('warning', 'error') AS complains
    FROM events
    INNER JOIN shared ON events.request_id = shared.request_id
    WHERE
        events.kind <> 'access'
        AND (events.kind < 'access' OR events.kind > 'access')
    UNION ALL
    SELECT
        events.event_id,
        shared.request,
        events.clock_id,
        events.ts,
        coalesce(events.ts_error_us, events.ts_precision_us) AS ts_error_us,
        -- What ships a log may send a line again: within a fine stamp records are one.
        CASE WHEN events.ts_precision_us < 1000000 THEN 0 ELSE events.event_id END
            AS apart,
        events.kind,
        events.layer = 'harness' AND events.kind = 'request_forwarded' AS sends,
        events.severity = 'error' AS fails,
        events.severity IN ('warning', 'error') AS complains
    FROM events
    INNER JOIN named ON events.event_id = named.event_id
    INNER JOIN shared ON named.request_id = shared.request_id
    -- The others are there already.
    WHERE events.request_id IS DISTINCT FROM named.request_id
),

-- Among the records of its request, which are the same for each of its attempts.
ranked AS (
    SELECT
        told.event_id,
        told.request,
        told.clock_id,
        told.ts,
        told.ts_error_us,
        told.kind,
        told.sends,
        told.fails,
        told.complains,
        dense_rank() OVER (
            PARTITION BY told.request, told.clock_id, told.kind
            ORDER BY told.ts ASC, told.apart ASC
        ) AS record,
        dense_rank() OVER (
            PARTITION BY told.request, told.clock_id, told.complains
            ORDER BY told.ts ASC, told.apart ASC
        ) AS complaint
    FROM told
),

counted AS (
    SELECT
        ranked.*,
        max(ranked.record) OVER (
            PARTITION BY ranked.request, ranked.clock_id, ranked.kind
        ) AS records,
        max(ranked.complaint) OVER (
            PARTITION BY ranked.request, ranked.clock_id, ranked.complains
        ) AS complaints
    FROM ranked
),

placed AS (
    SELECT
        exchanges.attempt_id,
        exchanges.failed,
        exchanges.ts_start,
        counted.event_id,
        counted.sends,
        exchanges.siblings = 1 AS alone,
        coalesce(clocks.status, 'untied') <> 'untied' AS tied,
        distance_us(counted.ts, exchanges.ts_start, exchanges.ts_end) AS away_us,
        counted.ts_error_us,
        exchanges.ts_error_us AS attempt_error_us,
        -- As many records of a kind as attempts or failed ones: one for each.
        (
            counted.records = exchanges.siblings
            AND counted.record = exchanges.number
        )
        OR (
            counted.fails
            AND exchanges.failed
            AND counted.records = exchanges.alike
            AND counted.record = exchanges.number_alike
        ) AS in_turn,
        -- As many complaints as failed attempts, all as near: one for each.
        counted.complains
        AND exchanges.failed
        AND counted.complaints = exchanges.alike
        AND counted.complaint = exchanges.number_alike AS complaint_in_turn
    FROM counted
    INNER JOIN exchanges ON counted.request = exchanges.request
    LEFT JOIN clocks ON counted.clock_id = clocks.clock_id AND clocks.segment = 0
)

SELECT
    placed.attempt_id,
    placed.event_id,
    placed.sends
FROM placed
WHERE
    placed.alone
    OR (
        placed.tied
        AND placed.away_us
        <= 2000000 + placed.ts_error_us + placed.attempt_error_us
    )
    -- Where no clock tells, the order does: as many records of a kind as attempts, or as
    -- many errors as failed ones.
    OR (NOT placed.tied AND placed.in_turn)
QUALIFY
    row_number() OVER (
        PARTITION BY placed.event_id
        ORDER BY
            CASE WHEN placed.in_turn THEN 0 ELSE 1 END ASC,
            greatest(0, placed.away_us - placed.attempt_error_us) ASC,
            CASE WHEN placed.complaint_in_turn THEN 0 ELSE 1 END ASC,
            placed.ts_start DESC,
            placed.attempt_id ASC
    ) = 1
    AND placed.failed
UNION ALL
SELECT
    single.attempt_id,
    events.event_id,
    events.layer = 'harness' AND events.kind = 'request_forwarded' AS sends
FROM events
INNER JOIN single ON events.request_id = single.request_id
WHERE
    events.kind <> 'access'
    AND (events.kind < 'access' OR events.kind > 'access')
UNION ALL
SELECT
    beside.attempt_id,
    marks.event_id,
    marks.layer = 'harness' AND marks.kind = 'request_forwarded' AS sends
FROM beside
INNER JOIN marks ON beside.event_id = marks.event_id
