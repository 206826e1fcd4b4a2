-- title: Exchanges of gateways or engines that no edge logged, without an id
-- store: table
WITH told AS (
    SELECT
        events.event_id,
        events.source_id,
        events.ts,
        coalesce(events.ts_error_us, events.ts_precision_us, 1000000) AS ts_error_us,
        events.kind,
        events.component,
        events.status,
        events.duration_ms,
        events.user_id,
        events.project_id,
        events.tenant_id,
        events.model,
        CASE
            WHEN events.kind = 'engine_access'
                THEN coalesce(events.engine, events.clock_id)
        END AS label
    FROM events
    WHERE
        -- As a range too, since that skips row groups of access records.
        events.kind BETWEEN 'engine_access' AND 'gateway_access'
        AND events.kind IN ('engine_access', 'gateway_access')
        AND events.request_id IS NULL
        AND events.status IS NOT NULL
        -- Whoever asks whether a server lives, or for its figures, is no user.
        AND NOT regexp_matches(
            events.message,
            '^(GET|HEAD) (\S*/)?'
            '(health\w*|livez?|liveness|readyz?|readiness|startup|ping|metrics)?'
            '([ ?]|$)'
        )
        -- An edge has the same exchanges, and more of each.
        AND NOT EXISTS (SELECT 1 FROM events AS edge WHERE edge.kind = 'access')
),

-- Of servers one behind the other the outermost has the most.
outermost AS (
    SELECT told.component
    FROM told
    WHERE told.kind = 'gateway_access'
    GROUP BY told.component
    ORDER BY count(*) DESC, told.component ASC
    LIMIT 1
),

exchanges AS (
    SELECT told.*
    FROM told
    WHERE
        CASE
            WHEN told.kind = 'gateway_access'
                THEN told.component = (SELECT outermost.component FROM outermost)
            ELSE (SELECT count(*) FROM outermost) = 0
        END
),

-- A request that failed by a record with its id has its exchange among them.
named AS (
    SELECT
        orphans.event_id,
        orphans.ts_end AS ts,
        coalesce(orphans.status, 500) AS status,
        coalesce(clocks.status, 'untied') = 'untied' AS untied
    FROM orphans
    INNER JOIN sources ON orphans.event_id // 10000000000 = sources.source_id
    LEFT JOIN clocks ON sources.clock_id = clocks.clock_id AND clocks.segment = 0
    WHERE (SELECT count(*) FROM exchanges) > 0
),

met AS (
    SELECT
        named.status,
        count(*) AS requests
    FROM named
    WHERE
        named.untied
        OR EXISTS (
            SELECT 1
            FROM exchanges
            WHERE
                exchanges.status = named.status
                AND abs(date_diff('microsecond', exchanges.ts, named.ts))
                <= 2000000 + exchanges.ts_error_us
        )
    GROUP BY named.status
),

-- How far each that may be one of those is from the nearest of them.
ways AS (
    SELECT
        exchanges.event_id,
        exchanges.status,
        exchanges.ts_error_us,
        least(
            coalesce(distance_us(exchanges.ts, before.ts, before.ts), 1000000000000),
            coalesce(distance_us(exchanges.ts, after.ts, after.ts), 1000000000000)
        ) AS away_us
    FROM exchanges
    SEMI JOIN met ON exchanges.status = met.status
    ASOF LEFT JOIN named AS before
        ON exchanges.status = before.status AND exchanges.ts >= before.ts
    ASOF LEFT JOIN named AS after
        ON exchanges.status = after.status AND exchanges.ts <= after.ts
),

counted AS (
    SELECT
        ways.event_id,
        row_number() OVER (
            PARTITION BY ways.status
            ORDER BY ways.away_us, ways.event_id
        ) <= met.requests AS known
    FROM ways
    INNER JOIN met ON ways.status = met.status
)

SELECT
    exchanges.event_id,
    exchanges.source_id,
    make_timestamp(
        epoch_us(exchanges.ts)
        - CAST(coalesce(exchanges.duration_ms * 1000, 0) AS BIGINT)
    ) AS ts_start,
    exchanges.ts AS ts_end,
    exchanges.ts_error_us,
    exchanges.status,
    exchanges.duration_ms,
    exchanges.user_id,
    exchanges.project_id,
    exchanges.tenant_id,
    exchanges.model,
    engine_names.engine
FROM exchanges
LEFT JOIN counted ON exchanges.event_id = counted.event_id
LEFT JOIN engine_names ON exchanges.label = engine_names.label
WHERE counted.known IS NOT TRUE
ORDER BY exchanges.event_id
