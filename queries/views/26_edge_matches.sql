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
        -- The error is written before the access record, if only just.
        unnest([0, 1]) AS shift
    FROM marks
    WHERE
        is_proxy(marks.component)
        AND marks.request_id IS NULL
        AND marks.client IS NOT NULL
        AND marks.clock_status <> 'untied'
),

-- The statuses that nginx gives for each of these; below 400 only for a body
-- that broke off after its header.
fitting AS (
    SELECT
        coalesce(twins.first_event_id, access.event_id) AS attempt_id,
        access.client,
        access.status,
        access.message,
        access.ts_end,
        date_trunc('second', access.ts_end) AS end_second,
        errors.event_id,
        errors.kind,
        errors.ts,
        errors.action,
        errors.upstream_addr
    FROM errors
    INNER JOIN access
        ON
            errors.client = access.client
            AND date_trunc('second', errors.ts) + to_seconds(errors.shift)
            = date_trunc('second', access.ts_end)
    LEFT JOIN twins ON access.event_id = twins.event_id
    WHERE
        (
            errors.request IS NULL
            OR access.message IS NULL
            OR errors.request = access.message
        )
        AND CASE
            WHEN access.status < 400
                THEN
                    errors.kind IN (
                        'upstream_closed', 'upstream_timeout', 'upstream_reset',
                        'client_closed'
                    )
                    AND errors.action IN (
                        'reading upstream', 'sending to client'
                    )
            WHEN errors.action = 'reading upstream' THEN FALSE
            WHEN errors.kind = 'edge_limit'
                THEN access.status IN (429, 503) AND access.forwarded IS NOT TRUE
            WHEN errors.kind = 'too_large' THEN access.status = 413
            WHEN errors.kind = 'client_closed' THEN access.status = 499
            WHEN errors.kind = 'upstream_timeout' THEN access.status = 504
            WHEN
                errors.kind IN (
                    'connect_refused', 'connect_failed', 'no_live_upstream',
                    'upstream_closed', 'upstream_reset', 'dns_failure'
                )
                THEN access.status IN (502, 503)
            -- A handshake can time out as well.
            WHEN errors.kind = 'tls_handshake' THEN access.status IN (502, 503, 504)
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
        fitting.client = groups.client
        AND fitting.message IS NOT DISTINCT FROM groups.message
        AND fitting.kind = groups.kind
        AND fitting.end_second = groups.end_second
