-- title: Which logs the case has at all
-- store: table
WITH
-- A wrapped file may be of many programs: its layer is that of one of them.
wrapped AS (
    SELECT
        events.layer,
        events.component
    FROM events
    INNER JOIN sources ON events.source_id = sources.source_id
    WHERE sources.wrapper IS NOT NULL
    GROUP BY events.layer, events.component
),

programs AS (
    SELECT
        coalesce(
            bool_or(wrapped.layer = 'model' AND wrapped.component <> 'kernel'),
            FALSE
        ) AS has_model,
        coalesce(
            bool_or(
                wrapped.layer = 'harness'
                AND NOT is_proxy(wrapped.component)
                AND wrapped.component NOT IN ('config', 'metrics')
            ),
            FALSE
        ) AS has_harness,
        coalesce(bool_or(wrapped.layer = 'quota'), FALSE) AS has_quota
    FROM wrapped
),

files AS (
    SELECT
        coalesce(bool_or(sources.layer = 'model' AND sources.events > 0), FALSE)
            AS has_model,
        coalesce(
            bool_or(
                sources.layer = 'harness'
                AND sources.events > 0
                AND NOT is_proxy(sources.component)
                AND NOT sources.format SIMILAR TO '.*(config|yaml|prometheus).*'
            ),
            FALSE
        ) AS has_harness,
        coalesce(bool_or(sources.format LIKE '%nginx_error%'), FALSE) AS has_error_log,
        coalesce(bool_or(sources.layer = 'quota' AND sources.events > 0), FALSE)
            AS has_quota
    FROM sources
)

SELECT
    files.has_error_log,
    files.has_model OR programs.has_model AS has_model,
    files.has_harness OR programs.has_harness AS has_harness,
    files.has_quota OR programs.has_quota AS has_quota
FROM files
CROSS JOIN programs
