-- title: Refusals without an id, joined to the attempts that they fit
-- store: table
WITH fitting AS (
    SELECT
        marks.event_id,
        marks.kind,
        marks.ts,
        marks.message,
        failures.attempt_id,
        date_trunc('second', marks.ts) AS second,
        must_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            marks.ts, marks.ts, marks.ts_error_us
        ) AS certain
    FROM marks
    LEFT JOIN engine_names ON marks.engine = engine_names.label
    INNER JOIN failures
        ON
            may_overlap(
                failures.ts_start, failures.ts_end, failures.ts_error_us,
                marks.ts, marks.ts, marks.ts_error_us
            )
            AND CASE marks.kind
                WHEN 'queue_full' THEN failures.status IN (429, 503)
                WHEN 'context_overflow'
                    THEN failures.status IN (400, 413, 422, 500, 503)
            END
            -- What an engine refused has come to an engine.
            AND (
                marks.layer <> 'model'
                OR (
                    failures.forwarded IS NOT FALSE
                    AND coalesce(failures.engine, engine_names.engine)
                    = engine_names.engine
                )
            )
    WHERE
        marks.request_id IS NULL
        AND marks.kind IN ('queue_full', 'context_overflow')
        AND marks.layer IN ('harness', 'model')
        AND marks.clock_status <> 'untied'
        -- Whoever has a word of its own needs no other.
        AND NOT EXISTS (
            SELECT 1
            FROM own
            WHERE
                own.attempt_id = failures.attempt_id
                AND own.severity IN ('warning', 'error', 'critical')
        )
),

seconds_of AS (
    SELECT
        fitting.kind,
        fitting.second,
        count(DISTINCT fitting.attempt_id) AS attempts,
        count(DISTINCT fitting.event_id) AS records
    FROM fitting
    GROUP BY fitting.kind, fitting.second
)

-- As many refusals as attempts that they fit, or one is left over.
SELECT
    fitting.attempt_id,
    fitting.kind,
    min(fitting.ts) AS ts,
    bool_or(fitting.certain) AS certain,
    list(DISTINCT fitting.event_id ORDER BY fitting.event_id)[1:20] AS evidence
FROM fitting
INNER JOIN seconds_of
    ON fitting.kind = seconds_of.kind AND fitting.second = seconds_of.second
WHERE seconds_of.attempts <= seconds_of.records
GROUP BY fitting.attempt_id, fitting.kind
