-- title: Refusals without an id right before an exchange without one, in its own log
-- store: table
WITH words AS (
    SELECT
        marks.event_id,
        marks.source_id,
        marks.ts,
        marks.ts_error_us,
        marks.kind,
        -- What a server answers to each of these.
        CASE
            WHEN marks.kind IN ('bad_request', 'context_overflow') THEN [400, 413, 422]
            WHEN marks.kind = 'auth_failed' THEN [401, 403]
            WHEN marks.kind = 'not_found' THEN [404]
            WHEN marks.kind = 'too_large' THEN [413]
            WHEN marks.kind = 'quota_exceeded' THEN [402, 403, 429]
            WHEN
                marks.kind IN (
                    'burst_limit', 'request_rate_limit', 'token_rate_limit',
                    'rate_limited', 'concurrency_limit', 'queue_full', 'provider_limit'
                )
                THEN [429, 503]
            WHEN marks.kind IN ('plugin_failed', 'no_route', 'not_ready')
                THEN [500, 502, 503]
            WHEN marks.kind IN ('upstream_timeout', 'queue_timeout')
                THEN [408, 500, 503, 504]
            WHEN
                marks.kind IN (
                    'connect_refused', 'connect_failed', 'upstream_closed',
                    'upstream_reset', 'dns_failure', 'tls_handshake'
                )
                THEN [500, 502, 503]
        END AS statuses
    FROM marks
    WHERE
        (SELECT count(*) FROM uncovered) > 0
        AND marks.request_id IS NULL
        AND marks.layer IN ('harness', 'model')
),

fitting AS (
    SELECT
        words.event_id,
        words.kind,
        uncovered.event_id AS attempt_id,
        uncovered.source_id,
        uncovered.status,
        date_trunc('second', uncovered.ts_end) AS second,
        count(*) OVER (PARTITION BY words.event_id) AS attempts,
        count(DISTINCT words.kind) OVER (PARTITION BY uncovered.event_id) AS kinds
    FROM words
    INNER JOIN uncovered
        ON
            words.source_id = uncovered.source_id
            AND words.event_id < uncovered.event_id
            AND list_contains(words.statuses, uncovered.status)
            AND coalesce(
                date_diff('microsecond', words.ts, uncovered.ts_end)
                BETWEEN 0 AND 1000000 + words.ts_error_us + uncovered.ts_error_us,
                -- Without stamps at most a few lines.
                words.ts IS NULL
                AND uncovered.ts_end IS NULL
                AND uncovered.event_id - words.event_id <= 5
            )
),

groups AS (
    SELECT
        fitting.source_id,
        fitting.status,
        fitting.kind,
        fitting.second,
        count(DISTINCT fitting.attempt_id) AS attempts,
        count(DISTINCT fitting.event_id) AS records
    FROM fitting
    GROUP BY fitting.source_id, fitting.status, fitting.kind, fitting.second
)

-- As many records as exchanges that they fit, or one is left over.
SELECT
    fitting.attempt_id,
    fitting.event_id
FROM fitting
INNER JOIN groups
    ON
        fitting.source_id = groups.source_id
        AND fitting.status = groups.status
        AND fitting.kind = groups.kind
        AND fitting.second IS NOT DISTINCT FROM groups.second
WHERE
    fitting.kinds = 1
    AND (fitting.attempts = 1 OR groups.attempts <= groups.records)
QUALIFY
    row_number() OVER (
        PARTITION BY fitting.event_id ORDER BY fitting.attempt_id
    ) = row_number() OVER (
        PARTITION BY fitting.attempt_id ORDER BY fitting.event_id
    )
