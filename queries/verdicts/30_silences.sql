-- title: How far the nearest records of the inner layers are from unexplained attempts
-- store: table
WITH open AS (
    SELECT
        failures.attempt_id,
        failures.ts_start,
        failures.ts_end
    FROM failures
    ANTI JOIN ranked ON failures.attempt_id = ranked.attempt_id
),

-- The first and the last of each second tell as much as all of them.
spoken AS (
    SELECT
        CASE WHEN events.layer = 'model' THEN 'model' ELSE 'harness' END AS layer,
        min(events.ts) AS ts_first,
        max(events.ts) AS ts_last
    FROM events
    WHERE
        (SELECT count(*) FROM open) > 0
        AND (
            events.layer = 'model'
            OR (events.layer = 'harness' AND events.component = 'harness')
        )
    GROUP BY
        CASE WHEN events.layer = 'model' THEN 'model' ELSE 'harness' END,
        date_trunc('second', events.ts)
),

stamps AS (
    SELECT
        spoken.layer,
        unnest([spoken.ts_first, spoken.ts_last]) AS ts
    FROM spoken
),

layers AS (
    SELECT 'model' AS layer
    UNION ALL
    SELECT 'harness' AS layer
),

asked AS (
    SELECT
        open.*,
        layers.layer
    FROM open
    CROSS JOIN layers
)

SELECT
    asked.attempt_id,
    asked.layer,
    before.ts AS ts_before,
    after.ts AS ts_after,
    coalesce(before.ts < asked.ts_start - INTERVAL 60 SECOND, TRUE)
    AND coalesce(after.ts > asked.ts_end + INTERVAL 60 SECOND, TRUE) AS silent
FROM asked
ASOF LEFT JOIN stamps AS before
    ON asked.layer = before.layer AND asked.ts_end >= before.ts
ASOF LEFT JOIN stamps AS after
    ON asked.layer = after.layer AND asked.ts_start <= after.ts
