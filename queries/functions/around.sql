-- title: Records of all layers around a moment, in corrected time
-- param moment: time; the moment, UTC: `2026-11-30 14:20:05`, a TIMESTAMP of the case,
--   or `14:20:05`, which means that time of every day of the case
-- param span: duration; how long before and after it: `10s`, `500ms`, `2m`
-- column ts: time corrected by the source's clock, UTC
-- column away_ms: from the moment to the record, ms; negative before it
-- column ts_error_us: uncertainty of ts, us; NULL = clock is untied
-- column layer: model, harness or quota; host: of none of them
-- column component: program that wrote it
-- column kind: what the record means: the most specific signature
-- column severity: debug, info, warning, error, critical
-- column request_id: canonical request id
-- column message: text of the record
-- column event_id: record of `events`
WITH asked AS (
    SELECT
        CAST($moment AS VARCHAR) AS said,
        CAST($span AS INTERVAL) AS span
),

days AS (
    SELECT
        unnest(
            -- Stamps of other zones may be of the day before or after.
            range(
                min(sources.first_ts)::DATE - 1,
                max(sources.last_ts)::DATE + 2,
                INTERVAL 1 DAY
            )
        ) AS day
    FROM sources
),

moments AS (
    SELECT
        asked.span,
        CAST(asked.said AS TIMESTAMP) AS moment
    FROM asked
    WHERE NOT regexp_matches(asked.said, '^\s*\d?\d:')
    UNION ALL
    SELECT
        asked.span,
        days.day::DATE + CAST(asked.said AS TIME) AS moment
    FROM asked
    CROSS JOIN days
    WHERE regexp_matches(asked.said, '^\s*\d?\d:')
)

SELECT
    events.ts,
    date_diff('microsecond', moments.moment, events.ts) / 1000 AS away_ms,
    events.ts_error_us,
    events.layer,
    events.component,
    events.kind,
    events.severity,
    events.request_id,
    events.message,
    events.event_id
FROM events
INNER JOIN moments
    ON
        moments.moment - moments.span <= events.ts
        AND moments.moment + moments.span >= events.ts
ORDER BY events.ts ASC, events.event_id ASC, moments.moment ASC
