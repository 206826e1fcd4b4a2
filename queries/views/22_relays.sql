-- title: Exchanges of a gateway that names requests anew, with the edge's records of them
-- store: table
WITH gateways AS (
    SELECT
        sources.log_set,
        count(repeats.event_id) AS shared
    FROM access
    INNER JOIN sources ON access.source_id = sources.source_id
    LEFT JOIN repeats ON access.event_id = repeats.event_id
    WHERE NOT is_proxy(access.component)
    GROUP BY sources.log_set
    -- Of which no id is known outside: it has ids of its own.
    HAVING count(repeats.event_id) = 0
),

told AS (
    SELECT
        access.event_id,
        access.request_id,
        access.ts_start,
        access.ts_end,
        access.ts_error_us,
        access.duration_ms,
        access.status,
        split_part(split_part(lower(access.message), ' http/', 1), '?', 1) AS what,
        is_proxy(access.component) AS edge,
        sources.log_set
    FROM access
    INNER JOIN sources ON access.source_id = sources.source_id
    INNER JOIN clocks
        ON
            access.clock_id = clocks.clock_id
            AND clocks.segment = 0
            AND clocks.status <> 'untied'
    WHERE
        (SELECT count(*) FROM gateways) > 0
        AND access.request_id IS NOT NULL
        AND access.duration_ms IS NOT NULL
        AND (
            is_proxy(access.component)
            OR sources.log_set IN (SELECT gateways.log_set FROM gateways)
        )
),

fitting AS (
    SELECT
        behind.event_id,
        behind.request_id,
        behind.log_set,
        edge.event_id AS first_event_id,
        edge.request_id AS first_request_id,
        edge.duration_ms - behind.duration_ms AS longer_ms,
        distance_us(behind.ts_end, edge.ts_end, edge.ts_end) AS away_us
    FROM told AS behind
    INNER JOIN told AS edge
        ON
            behind.status = edge.status
            AND behind.what = edge.what
            AND edge.duration_ms - behind.duration_ms BETWEEN -2 AND 200
            AND behind.ts_end
            BETWEEN edge.ts_end - micros(behind.ts_error_us + edge.ts_error_us + 20000)
            AND edge.ts_end + micros(behind.ts_error_us + edge.ts_error_us + 20000)
    WHERE edge.edge AND NOT behind.edge
),

-- A gateway behind this edge has most of its exchanges from there.
behind AS (
    SELECT told.log_set
    FROM told
    LEFT JOIN fitting ON told.event_id = fitting.event_id
    WHERE NOT told.edge
    GROUP BY told.log_set
    HAVING
        count(DISTINCT fitting.event_id) >= 0.6 * count(DISTINCT told.event_id)
),

counted AS (
    SELECT
        fitting.*,
        count(*) OVER (PARTITION BY fitting.event_id) AS edges,
        count(*) OVER (PARTITION BY fitting.first_event_id) AS gateways
    FROM fitting
    SEMI JOIN behind ON fitting.log_set = behind.log_set
),

-- What the way between the two takes, where there is no doubt.
usual AS (
    SELECT coalesce(median(counted.longer_ms), 0) AS longer_ms
    FROM counted
    WHERE counted.edges = 1 AND counted.gateways = 1
),

ranked AS (
    SELECT
        counted.*,
        row_number() OVER (
            PARTITION BY counted.event_id
            ORDER BY
                abs(counted.longer_ms - usual.longer_ms),
                counted.away_us,
                counted.first_event_id
        ) AS nearest_edge,
        row_number() OVER (
            PARTITION BY counted.first_event_id
            ORDER BY
                abs(counted.longer_ms - usual.longer_ms),
                counted.away_us,
                counted.event_id
        ) AS nearest_gateway
    FROM counted
    CROSS JOIN usual
),

-- Edges' records that would all have the same one share out those next to it.
turns AS (
    SELECT
        ranked.first_event_id,
        row_number() OVER (
            PARTITION BY ranked.event_id
            ORDER BY ranked.nearest_edge
        ) AS turn
    FROM ranked
    WHERE ranked.nearest_gateway = 1
)

SELECT
    ranked.event_id,
    ranked.request_id,
    ranked.first_event_id,
    ranked.first_request_id,
    -- The edge has it already, if not as this one then as another of those alike.
    ranked.nearest_edge = 1
    AND (ranked.nearest_gateway = 1 OR ranked.edges >= ranked.gateways) AS again,
    ranked.nearest_gateway = turns.turn AS nearest,
    ranked.edges = 1 AND ranked.gateways = 1 AS alone
FROM ranked
INNER JOIN turns ON ranked.first_event_id = turns.first_event_id
