-- title: Which logs the case has at all
-- store: table
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
