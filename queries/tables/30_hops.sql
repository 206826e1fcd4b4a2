-- title: Upstreams that an attempt tried, one after the other, and how long each took
WITH single AS (
    SELECT
        events.event_id,
        1 AS hop,
        1 AS hops,
        events.upstream_addr AS upstream,
        events.upstream_connect_ms AS connect_ms,
        events.upstream_header_ms AS header_ms,
        events.upstream_response_ms AS response_ms,
        events.duration_ms
    FROM events
    WHERE
        events.kind = 'access'
        AND coalesce(events.upstream_hops, 1) = 1
        AND (
            events.upstream_hops = 1
            OR events.upstream_response_ms IS NOT NULL
            OR events.upstream_header_ms IS NOT NULL
        )
),

-- nginx parts what servers took by commas, and groups of them by colons.
listed AS (
    SELECT
        events.event_id,
        events.upstream_hops AS hops,
        regexp_split_to_array(events.upstream_addr, ', | : ') AS upstreams,
        regexp_split_to_array(events.attrs ->> '$.uct', ', | : ') AS connects,
        regexp_split_to_array(events.attrs ->> '$.uht', ', | : ') AS headers,
        regexp_split_to_array(events.attrs ->> '$.urt', ', | : ') AS responses,
        events.upstream_connect_ms,
        events.upstream_header_ms,
        events.upstream_response_ms,
        events.duration_ms
    FROM events
    WHERE events.kind = 'access' AND events.upstream_hops > 1
),

numbered AS (
    SELECT
        listed.*,
        unnest(range(1, listed.hops + 1)) AS hop
    FROM listed
),

several AS (
    SELECT
        numbered.event_id,
        numbered.hop::INTEGER AS hop,
        numbered.hops,
        numbered.upstreams[numbered.hop] AS upstream,
        -- What the record has for the last one, else its list, in seconds.
        CASE
            WHEN numbered.hop = numbered.hops THEN numbered.upstream_connect_ms
            ELSE 1000 * try_cast(numbered.connects[numbered.hop] AS DOUBLE)
        END AS connect_ms,
        CASE
            WHEN numbered.hop = numbered.hops THEN numbered.upstream_header_ms
            ELSE 1000 * try_cast(numbered.headers[numbered.hop] AS DOUBLE)
        END AS header_ms,
        CASE
            WHEN numbered.hop = numbered.hops THEN numbered.upstream_response_ms
            ELSE 1000 * try_cast(numbered.responses[numbered.hop] AS DOUBLE)
        END AS response_ms,
        numbered.duration_ms
    FROM numbered
),

every_hop AS (
    SELECT single.* FROM single
    UNION ALL
    SELECT several.* FROM several
)

SELECT
    attempts.attempt_id,
    every_hop.hop,
    every_hop.hops,
    attempts.request_id,
    attempts.attempt,
    attempts.ts_start,
    attempts.ts_end,
    attempts.status,
    attempts.failed,
    attempts.user_id,
    attempts.model,
    attempts.engine,
    every_hop.upstream,
    every_hop.connect_ms,
    every_hop.header_ms,
    every_hop.response_ms,
    every_hop.duration_ms
FROM every_hop
INNER JOIN attempts ON every_hop.event_id = attempts.attempt_id
