-- title: Error-log records without an id, joined to the access records they fit
-- store: table
WITH errors AS (
    SELECT
        marks.event_id,
        marks.clock_id,
        marks.ts,
        marks.ts_error_us,
        marks.kind,
        marks.client,
        marks.upstream_addr,
        (marks.attrs ->> '$.request') AS request,
        coalesce((marks.attrs ->> '$.while'), '') AS action,
        -- The error is written before the access record, if only just. Traefik's end
        -- is a start of whole seconds and what it took.
        unnest(CASE WHEN marks.component = 'traefik' THEN [-1, 0, 1] ELSE [0, 1] END)
            AS shift
    FROM marks
    WHERE
        is_proxy(marks.component)
        AND marks.request_id IS NULL
        -- Traefik names no client.
        AND (marks.client IS NOT NULL OR marks.component = 'traefik')
        AND marks.clock_status <> 'untied'
),

pairs AS (
    SELECT
        errors.*,
        access.event_id AS access_id,
        access.message,
        access.status,
        access.forwarded,
        access.ts_end
    FROM errors
    INNER JOIN access
        ON
            errors.client = access.client
            AND date_trunc('second', errors.ts) + to_seconds(errors.shift)
            = date_trunc('second', access.ts_end)
    WHERE
        errors.request IS NULL
        OR access.message IS NULL
        OR errors.request = access.message
    UNION ALL
    SELECT
        errors.*,
        access.event_id AS access_id,
        NULL AS message,
        access.status,
        access.forwarded,
        access.ts_end
    FROM errors
    INNER JOIN access
        ON
            date_trunc('second', errors.ts) + to_seconds(errors.shift)
            = date_trunc('second', access.ts_end)
    WHERE
        errors.client IS NULL
        AND access.component = 'traefik'
        AND contains(
            coalesce(access.upstream_addr, ''), coalesce(errors.upstream_addr, '')
        )
),

-- The statuses that nginx gives for each of these; below 400 only for a body
-- that broke off after its header.
fitting AS (
    SELECT
        coalesce(twins.first_event_id, pairs.access_id) AS attempt_id,
        pairs.client,
        pairs.status,
        pairs.message,
        pairs.ts_end,
        date_trunc('second', pairs.ts_end) AS end_second,
        pairs.event_id,
        pairs.kind,
        pairs.ts,
        pairs.action,
        pairs.upstream_addr
    FROM pairs
    LEFT JOIN twins ON pairs.access_id = twins.event_id
    WHERE
        CASE
            WHEN pairs.status < 400
                THEN
                    pairs.kind IN (
                        'upstream_closed', 'upstream_timeout', 'upstream_reset',
                        'client_closed'
                    )
                    AND pairs.action IN (
                        'reading upstream', 'sending to client',
                        'aborting with incomplete response'
                    )
            WHEN pairs.action = 'reading upstream' THEN FALSE
            WHEN pairs.kind = 'edge_limit'
                THEN pairs.status IN (429, 503) AND pairs.forwarded IS NOT TRUE
            WHEN pairs.kind = 'too_large' THEN pairs.status = 413
            WHEN pairs.kind = 'client_closed' THEN pairs.status = 499
            WHEN pairs.kind = 'upstream_timeout' THEN pairs.status = 504
            WHEN
                pairs.kind IN (
                    'connect_refused', 'connect_failed', 'no_live_upstream',
                    'upstream_closed', 'upstream_reset', 'dns_failure'
                )
                THEN pairs.status IN (502, 503)
            -- A handshake can time out as well, and Traefik makes 500 of it.
            WHEN pairs.kind = 'tls_handshake' THEN pairs.status IN (500, 502, 503, 504)
            ELSE FALSE
        END
),

-- An error of the last hop is the one that decided; earlier hops were survived.
counted AS (
    SELECT
        fitting.attempt_id,
        fitting.event_id,
        fitting.status,
        fitting.kind,
        fitting.ts,
        fitting.action,
        fitting.upstream_addr,
        fitting.ts_end,
        count(DISTINCT fitting.attempt_id) OVER claimants AS attempts,
        count(DISTINCT fitting.kind) OVER candidates AS kinds
    FROM fitting
    WINDOW
        claimants AS (PARTITION BY fitting.event_id),
        candidates AS (PARTITION BY fitting.attempt_id)
),

groups AS (
    SELECT
        fitting.client,
        fitting.message,
        fitting.kind,
        fitting.end_second,
        count(DISTINCT fitting.attempt_id) AS attempts,
        count(DISTINCT fitting.event_id) AS errors
    FROM fitting
    GROUP BY fitting.client, fitting.message, fitting.kind, fitting.end_second
)

SELECT DISTINCT
    counted.attempt_id,
    counted.event_id,
    counted.kind,
    counted.ts,
    counted.action,
    counted.upstream_addr,
    counted.kinds,
    CASE
        -- What broke off after its header is told from what did not by nothing else.
        WHEN counted.status < 400 THEN counted.attempts = 1
        ELSE groups.attempts <= groups.errors
    END AS settled
FROM counted
INNER JOIN fitting
    ON
        counted.attempt_id = fitting.attempt_id
        AND counted.event_id = fitting.event_id
INNER JOIN groups
    ON
        fitting.client IS NOT DISTINCT FROM groups.client
        AND fitting.message IS NOT DISTINCT FROM groups.message
        AND fitting.kind = groups.kind
        AND fitting.end_second = groups.end_second
