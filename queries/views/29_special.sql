-- title: Access records that are not simply the only attempt of their request
-- store: table
WITH marked AS (
    SELECT
        numbers.event_id,
        numbers.attempt,
        FALSE AS broken,
        FALSE AS twin
    FROM numbers
    UNION ALL
    SELECT
        broken.event_id,
        NULL AS attempt,
        TRUE AS broken,
        FALSE AS twin
    FROM broken
    UNION ALL
    SELECT
        twins.event_id,
        NULL AS attempt,
        FALSE AS broken,
        TRUE AS twin
    FROM twins
)

SELECT
    marked.event_id,
    max(marked.attempt) AS attempt,
    bool_or(marked.broken) AS broken,
    bool_or(marked.twin) AS twin
FROM marked
GROUP BY marked.event_id
