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
        numbered.event_id,
        events.request_id
    FROM events
    INNER JOIN numbered ON (events.attrs ->> '$.call_id') = numbered.call_id
    SEMI JOIN requests ON events.request_id = requests.request_id
    -- As ranges, since those skip row groups of access records.
    WHERE (events.kind < 'access' OR events.kind > 'access')
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

-- Requests of several attempts, and those whose records are others' as well.
shared AS (
    SELECT requests.request_id
    FROM requests
    WHERE requests.siblings > 1
    UNION
    SELECT named.request_id
    FROM named
    UNION
    SELECT events.request_id
    FROM events
    SEMI JOIN named ON events.event_id = named.event_id
    WHERE events.request_id IS NOT NULL
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
    SEMI JOIN shared ON attempts.request_id = shared.request_id
),

told AS (
    SELECT
        events.event_id,
        events.request_id,
        events.clock_id,
        events.ts,
        coalesce(events.ts_error_us, events.ts_precision_us) AS ts_error_us,
        events.layer,
        events.kind,
        events.severity
    FROM events
    SEMI JOIN shared ON events.request_id = shared.request_id
    WHERE (events.kind < 'access' OR events.kind > 'access')
    UNION
    SELECT
        events.event_id,
        named.request_id,
        events.clock_id,
        events.ts,
        coalesce(events.ts_error_us, events.ts_precision_us) AS ts_error_us,
        events.layer,
        events.kind,
        events.severity
    FROM events
    INNER JOIN named ON events.event_id = named.event_id
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
        told.event_id,
        told.layer,
        told.kind,
        told.ts_error_us,
        coalesce(clocks.status, 'untied') AS clock_status,
        told.severity,
        distance_us(told.ts, exchanges.ts_start, exchanges.ts_end) AS away_us,
        count(*) OVER (
            PARTITION BY exchanges.attempt_id, told.clock_id, told.kind
        ) AS records,
        row_number() OVER (
            PARTITION BY exchanges.attempt_id, told.clock_id, told.kind
            ORDER BY told.ts ASC, told.event_id ASC
        ) AS record,
        told.severity IN ('warning', 'error') AS complains,
        count(*) OVER (
            PARTITION BY
                exchanges.attempt_id, told.clock_id,
                told.severity IN ('warning', 'error')
        ) AS complaints,
        row_number() OVER (
            PARTITION BY
                exchanges.attempt_id, told.clock_id,
                told.severity IN ('warning', 'error')
            ORDER BY told.ts ASC, told.event_id ASC
        ) AS complaint
    FROM told
    INNER JOIN exchanges ON told.request_id = exchanges.request_id
    LEFT JOIN clocks ON told.clock_id = clocks.clock_id AND clocks.segment = 0
)

SELECT
    placed.attempt_id,
    placed.event_id,
    placed.layer,
    placed.kind
FROM placed
WHERE
    placed.siblings = 1
    OR (
        placed.clock_status <> 'untied'
        AND placed.away_us
        <= 2000000 + placed.ts_error_us + placed.attempt_error_us
    )
    -- Where no clock tells, the order does: as many records of a kind as attempts, or as
    -- many errors as failed ones.
    OR (
        placed.clock_status = 'untied'
        AND (
            (placed.records = placed.siblings AND placed.record = placed.number)
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
UNION ALL
SELECT
    requests.attempt_id,
    events.event_id,
    events.layer,
    events.kind
FROM events
INNER JOIN requests ON events.request_id = requests.request_id
WHERE
    (events.kind < 'access' OR events.kind > 'access')
    AND requests.siblings = 1
    AND NOT EXISTS (
        SELECT 1
        FROM shared
        WHERE shared.request_id = requests.request_id
    )
UNION ALL
SELECT
    beside.attempt_id,
    marks.event_id,
    marks.layer,
    marks.kind
FROM beside
INNER JOIN marks ON beside.event_id = marks.event_id
