-- title: Exchanges that failed although the client was told a status below 400
-- store: table
WITH marked AS (
    SELECT
        access.event_id,
        access.request_id,
        access.ts_start,
        access.ts_end,
        access.ts_error_us,
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
),

sent AS (
    SELECT
        events.request_id,
        events.ts,
        coalesce(events.ts_error_us, events.ts_precision_us) AS ts_error_us
    FROM events
    SEMI JOIN marked ON events.request_id = marked.request_id
    WHERE events.kind = 'request_forwarded' AND events.layer = 'harness'
),

tries AS (
    SELECT
        marked.event_id,
        -- What ships a log may send a line again.
        count(DISTINCT sent.ts) AS tries
    FROM marked
    INNER JOIN sent
        ON
            marked.request_id = sent.request_id
            AND distance_us(sent.ts, marked.ts_start, marked.ts_end)
            <= sent.ts_error_us + marked.ts_error_us
    GROUP BY marked.event_id
),

-- A gateway that tried again after an engine had failed it came to a good end.
own AS (
    SELECT
        marked.event_id,
        marked.kind
    FROM marked
    LEFT JOIN tries ON marked.event_id = tries.event_id
    QUALIFY
        marked.kind NOT IN ('request_engine_dead', 'request_failed_engine')
        OR count(DISTINCT marked.mark_id) FILTER (
            WHERE marked.kind IN ('request_engine_dead', 'request_failed_engine')
        ) OVER (PARTITION BY marked.event_id) >= coalesce(tries.tries, 1)
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
