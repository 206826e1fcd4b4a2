-- title: Settings that a reload changed, and what each is about
-- store: table
WITH reloads AS (
    SELECT
        marks.event_id,
        marks.log_dir,
        marks.ts,
        marks.ts_error_us,
        marks.clock_status,
        -- One record may tell of several.
        unnest(
            regexp_extract_all(
                marks.message,
                '[\w.\-]+(?::|=| from)? ?[^\s,;]+ ?(?:->|=>|→|to) ?[^\s,;]+'
            )
        ) AS change,
        (marks.attrs ->> '$.setting') AS setting,
        (marks.attrs ->> '$.before') AS before,
        (marks.attrs ->> '$.after') AS after
    FROM marks
    WHERE marks.kind = 'config_reload'
),

named AS (
    SELECT
        reloads.event_id,
        reloads.log_dir,
        reloads.ts,
        reloads.ts_error_us,
        reloads.clock_status,
        parts.setting,
        parts.before,
        parts.after
    FROM reloads
    CROSS JOIN
        LATERAL (  -- noqa: ST05
            SELECT
                regexp_extract(
                    reloads.change,
                    '^([\w.\-]+)(?::|=| from)? ?(\S+?) ?(?:->|=>|→|to) ?(\S+)$',
                    ['setting', 'before', 'after']
                ) AS found
        ) AS extracts
    CROSS JOIN
        LATERAL (  -- noqa: ST05
            SELECT
                extracts.found.setting,
                extracts.found.before,
                extracts.found.after
        ) AS parts
    WHERE parts.setting <> ''
    UNION
    SELECT
        marks.event_id,
        marks.log_dir,
        marks.ts,
        marks.ts_error_us,
        marks.clock_status,
        (marks.attrs ->> '$.setting') AS setting,
        (marks.attrs ->> '$.before') AS before,
        (marks.attrs ->> '$.after') AS after
    FROM marks
    WHERE
        marks.kind = 'config_reload'
        AND (marks.attrs ->> '$.setting') IS NOT NULL
),

-- Numbers in one unit: seconds for what has one of time.
valued AS (
    SELECT
        named.*,
        CASE
            WHEN regexp_matches(named.setting, '(?i)concurren|parallel|in_flight')
                THEN 'concurrency'
            WHEN regexp_matches(named.setting, '(?i)timeout') THEN 'timeout'
            WHEN
                regexp_matches(
                    named.setting, '(?i)context|max_(input|model_len|prompt)'
                )
                THEN 'context'
            WHEN regexp_matches(named.setting, '(?i)queue') THEN 'queue'
            WHEN regexp_matches(named.setting, '(?i)burst') THEN 'burst'
            WHEN
                regexp_matches(named.setting, '(?i)rpm|requests_per|request_rate')
                THEN 'requests'
            WHEN
                regexp_matches(named.setting, '(?i)tpm|tokens_per|rate_limit')
                THEN 'tokens'
            WHEN regexp_matches(named.setting, '(?i)dtype') THEN 'dtype'
            WHEN
                regexp_matches(
                    named.setting,
                    '(?i)upstream|backend|endpoint|engine|base_url|address|host|port'
                )
                THEN 'upstream'
            WHEN regexp_matches(named.setting, '(?i)path|model|weights') THEN 'path'
        END AS about,
        try_cast(regexp_extract(named.before, '^[''"]?([0-9.]+)', 1) AS DOUBLE)
        / CASE WHEN regexp_matches(named.before, 'ms$') THEN 1000 ELSE 1 END
            AS number_before,
        try_cast(regexp_extract(named.after, '^[''"]?([0-9.]+)', 1) AS DOUBLE)
        / CASE WHEN regexp_matches(named.after, 'ms$') THEN 1000 ELSE 1 END
            AS number_after
    FROM named
)

SELECT
    valued.event_id,
    valued.ts,
    lead(valued.ts) OVER (
        PARTITION BY valued.log_dir, valued.setting ORDER BY valued.ts, valued.event_id
    ) AS next_ts,
    valued.ts_error_us,
    valued.clock_status,
    valued.setting,
    valued.about,
    valued.before,
    valued.after,
    valued.number_before,
    valued.number_after,
    CASE
        WHEN valued.about IN ('dtype', 'upstream', 'path')
            THEN valued.before <> valued.after
        ELSE coalesce(valued.number_after < valued.number_before, FALSE)
    END AS worse
FROM valued
WHERE valued.about IS NOT NULL
