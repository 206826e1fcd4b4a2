-- title: Which of several limits of concurrency can be an access log's, by their folders
-- store: table
WITH stated AS (
    SELECT
        marks.log_dir,
        arg_max(
            try_cast(
                replace(
                    regexp_extract(
                        (marks.attrs ->> '$.value'), '^\s*[''"]?([0-9][0-9_]*)', 1
                    ),
                    '_', ''
                ) AS DOUBLE
            ),
            marks.event_id
        ) AS number
    FROM marks
    WHERE
        marks.kind = 'config_setting'
        AND (marks.attrs ->> '$.key') = 'max_concurrent_requests'
    GROUP BY marks.log_dir
),

-- One limit in several copies, or one that --config states, is everybody's.
several AS (
    SELECT max(stated.number) AS greatest
    FROM stated
    HAVING
        count(DISTINCT stated.number) > 1
        AND EXISTS (
            SELECT 1
            FROM settings
            WHERE
                settings.key = 'max_concurrent_requests'
                AND settings.event_id IS NOT NULL
        )
),

asking AS (
    SELECT DISTINCT
        failures.source_id,
        string_split(log_dir(sources.path), '/') AS parts
    FROM failures
    INNER JOIN sources ON failures.source_id = sources.source_id
    WHERE failures.status = 429 AND (SELECT count(*) FROM several) > 0
),

near AS (
    SELECT
        asking.source_id,
        stated.number,
        len(
            list_filter(
                range(1, len(asking.parts) + 1),
                LAMBDA n: asking.parts[:n] = string_split(stated.log_dir, '/')[:n]
            )
        ) AS shared
    FROM asking
    CROSS JOIN stated
),

nearest AS (
    SELECT near.*
    FROM near
    QUALIFY
        near.shared = max(near.shared) OVER (PARTITION BY near.source_id)
)

SELECT
    nearest.source_id,
    min(nearest.number) AS least,
    any_value(several.greatest) AS greatest
FROM nearest
CROSS JOIN several
GROUP BY nearest.source_id
