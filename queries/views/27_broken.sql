-- title: Exchanges that failed although the client was told a status below 400
-- store: table
WITH own AS (
    SELECT
        access.event_id,
        marks.event_id AS mark_id,
        marks.kind
    FROM marks
    INNER JOIN access
        ON
            marks.request_id = access.request_id
            AND (
                marks.clock_status = 'untied'
                OR distance_us(
                    marks.ts, access.ts_start, access.ts_end
                ) <= 2000000 + marks.ts_error_us + access.ts_error_us
            )
    ANTI JOIN twins ON access.event_id = twins.event_id
    WHERE
        access.status < 400
        AND (
            marks.kind IN (
                'request_engine_dead', 'request_failed_engine', 'nan_output',
                'client_closed', 'revision_mismatch', 'grammar_failure'
            )
            OR list_contains(marks.kinds, 'stream_broken')
        )
)

SELECT DISTINCT own.event_id
FROM own
UNION
-- The record itself says that it broke off, or one of a proxy behind it does.
SELECT DISTINCT reasons.attempt_id AS event_id
FROM reasons
WHERE
    reasons.status < 400
    AND list_has_any(
        reasons.kinds,
        [
            'client_closed', 'client_timeout', 'upstream_closed', 'upstream_reset',
            'upstream_timeout', 'upstream_invalid'
        ]
    )
UNION
SELECT DISTINCT edge_matches.attempt_id AS event_id
FROM edge_matches
INNER JOIN access ON edge_matches.attempt_id = access.event_id
WHERE access.status < 400 AND edge_matches.settled
