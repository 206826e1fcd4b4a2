-- title: A compiled graph of an older model is in use, until it is cleared
-- layer: harness
-- cause: harness.stale_cache
-- needs: marks
-- known gaps: caches that are not recorded when they are used
WITH hits AS (
    SELECT
        marks.event_id,
        marks.ts,
        marks.ts_error_us,
        marks.clock_status,
        (marks.attrs ->> '$.path') AS path,
        (
            SELECT min(cleared.ts)
            FROM marks AS cleared
            WHERE
                cleared.kind = 'compiled_cache_cleared'
                AND (cleared.attrs ->> '$.path') = (marks.attrs ->> '$.path')
                AND cleared.ts > marks.ts
        ) AS cleared_ts
    FROM marks
    WHERE marks.kind = 'compiled_cache_hit'
)

SELECT
    'harness.stale_cache' AS cause,
    'root' AS role,
    'cache' AS scope_kind,
    hits.path AS scope,
    hits.ts AS ts_start,
    hits.cleared_ts AS ts_end,
    hits.ts_error_us,
    hits.clock_status,
    'the graph compiled in ' || hits.path || ' is used' AS because,
    [hits.event_id] AS evidence
FROM hits
-- Only a request that broke on it shows that it is stale.
SEMI JOIN marks
    ON
        list_contains(marks.kinds, 'stale_cache')
        AND (marks.attrs ->> '$.path') = hits.path
        AND marks.ts > hits.ts
