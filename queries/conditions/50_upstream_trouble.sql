-- title: The edge could not reach or finish with its upstream
-- layer: harness
-- cause: *
-- known gaps: trouble that is logged below the level that was kept
WITH trouble AS (
    SELECT
        marks.event_id,
        marks.log_dir,
        marks.kind,
        coalesce(
            nullif(regexp_extract(marks.upstream_addr, '^(?:\w+://)?([^/]+)', 1), ''),
            '?'
        ) AS upstream,
        marks.ts,
        marks.ts_error_us,
        marks.clock_status
    FROM marks
    WHERE
        is_proxy(marks.component)
        AND marks.request_id IS NULL
        AND marks.kind IN (
            'connect_refused', 'connect_failed', 'no_live_upstream',
            'upstream_closed', 'upstream_timeout', 'upstream_reset', 'tls_handshake',
            'dns_failure'
        )
    UNION ALL
    SELECT
        reasons.event_id,
        reasons.log_dir,
        reasons.kind,
        coalesce(
            reasons.upstream_addr,
            (reasons.attrs ->> '$.backend'),
            (reasons.attrs ->> '$.upstream_cluster'),
            '?'
        ) AS upstream,
        reasons.ts,
        reasons.ts_error_us,
        reasons.clock_status
    FROM reasons
    WHERE
        reasons.kind IN (
            'connect_refused', 'no_live_upstream', 'upstream_closed',
            'upstream_timeout', 'upstream_reset', 'tls_handshake', 'dns_failure'
        )
),

paused AS (
    SELECT
        trouble.*,
        trouble.ts - lag(trouble.ts) OVER runs > INTERVAL 60 SECOND AS pause
    FROM trouble
    WINDOW
        runs AS (
            PARTITION BY trouble.log_dir, trouble.kind, trouble.upstream
            ORDER BY trouble.ts, trouble.event_id
        )
),

numbered AS (
    SELECT
        paused.*,
        sum(CASE WHEN paused.pause THEN 1 ELSE 0 END) OVER (
            PARTITION BY paused.log_dir, paused.kind, paused.upstream
            ORDER BY paused.ts, paused.event_id
        ) AS run
    FROM paused
),

grouped AS (
    SELECT
        numbered.kind,
        numbered.upstream,
        min(numbered.ts) AS ts_start,
        max(numbered.ts) AS ts_end,
        max(numbered.ts_error_us) AS ts_error_us,
        min(numbered.clock_status) AS clock_status,
        count(*) AS records,
        list(numbered.event_id ORDER BY numbered.event_id)[1:20] AS evidence
    FROM numbered
    GROUP BY
        numbered.log_dir, numbered.kind, numbered.upstream, numbered.run
),

-- A dead engine explains what overlaps its outage, a slow one only time-outs.
explained AS (
    SELECT
        grouped.*,
        EXISTS(
            SELECT 1
            FROM conditions
            WHERE
                conditions.role = 'root'
                AND (
                    (
                        conditions.scope_kind = 'engine'
                        AND conditions.cause <> 'model.slow'
                    )
                    OR (
                        conditions.cause IN ('model.slow', 'harness.hung')
                        AND grouped.kind = 'upstream_timeout'
                    )
                )
                AND conditions.clock_status <> 'untied'
                -- A name that cannot be resolved is an engine's only where it is its
                -- own, or there is no other.
                AND (
                    grouped.kind <> 'dns_failure'
                    OR contains(lower(grouped.upstream), lower(conditions.scope))
                    OR (SELECT count(*) FROM known_engines) <= 1
                )
                AND grouped.ts_end + micros(grouped.ts_error_us)
                >= conditions.ts_start - micros(conditions.ts_error_us)
                AND (
                    conditions.ts_end IS NULL
                    OR grouped.ts_start - micros(grouped.ts_error_us)
                    <= conditions.ts_end + micros(conditions.ts_error_us)
                    + INTERVAL 70 SECOND
                )
        ) AS by_engine
    FROM grouped
)

SELECT
    CASE explained.kind
        WHEN 'upstream_reset' THEN 'harness.upstream_closed'
        WHEN 'connect_failed' THEN 'harness.connect_refused'
        ELSE 'harness.' || explained.kind
    END AS cause,
    CASE WHEN explained.by_engine THEN 'symptom' ELSE 'root' END AS role,
    'upstream' AS scope_kind,
    explained.upstream AS scope,
    explained.ts_start,
    explained.ts_end,
    explained.ts_error_us,
    explained.clock_status,
    explained.records || ' x ' || replace(explained.kind, '_', ' ') || ' at '
    || explained.upstream AS because,
    explained.evidence
FROM explained
