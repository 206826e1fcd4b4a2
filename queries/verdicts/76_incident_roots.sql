-- title: Which incident another one follows from, and by what that shows
-- store: table
WITH extents AS (
    SELECT
        incident_members.incident_id,
        any_value(incident_members.cause) AS cause,
        least(
            min(incident_members.ts_start),
            coalesce(min(conditions.ts_start), min(incident_members.ts_start))
        ) AS ts_start,
        max(incident_members.ts_end) AS ts_end,
        max(
            greatest(
                coalesce(incident_members.ts_error_us, 0),
                coalesce(conditions.ts_error_us, 0)
            )
        ) AS ts_error_us,
        count(*) AS attempts
    FROM incident_members
    LEFT JOIN conditions
        ON incident_members.condition_id = conditions.condition_id
    GROUP BY incident_members.incident_id
),

-- Its verdicts name the other's cause as contributing, at the same time.
named AS (
    SELECT
        shares.incident_id,
        extents.incident_id AS root_incident_id,
        'its cause contributes to ' || shares.named || ' of ' || mine.attempts
            AS because
    FROM (
        SELECT
            marked.incident_id,
            marked.cause,
            count(*) AS named
        FROM (
            SELECT
                incident_members.incident_id,
                unnest(incident_members.contributing) AS cause
            FROM incident_members
        ) AS marked
        GROUP BY marked.incident_id, marked.cause
    ) AS shares
    INNER JOIN extents AS mine ON shares.incident_id = mine.incident_id
    INNER JOIN extents ON shares.cause = extents.cause
    WHERE
        2 * shares.named >= mine.attempts
        AND may_overlap(
            mine.ts_start, mine.ts_end, mine.ts_error_us,
            extents.ts_start, extents.ts_end, extents.ts_error_us
        )
),

firsts AS (
    SELECT
        incident_members.request_id,
        incident_members.incident_id,
        min(incident_members.attempt) AS attempt
    FROM incident_members
    WHERE incident_members.request_id IS NOT NULL
    GROUP BY incident_members.request_id, incident_members.incident_id
),

-- Most of its requests are those that failed there before.
earlier AS (
    SELECT
        later.incident_id,
        before.incident_id AS root_incident_id,
        count(*) AS attempts
    FROM incident_members AS later
    INNER JOIN firsts AS before
        ON
            later.request_id = before.request_id
            AND later.attempt > before.attempt
            AND later.incident_id <> before.incident_id
    GROUP BY later.incident_id, before.incident_id
),

retried AS (
    SELECT
        earlier.incident_id,
        earlier.root_incident_id,
        earlier.attempts || ' of its ' || mine.attempts || ' had failed there before'
            AS because
    FROM earlier
    INNER JOIN extents AS mine ON earlier.incident_id = mine.incident_id
    WHERE 2 * earlier.attempts >= mine.attempts
),

pairs AS (
    SELECT
        named.*,
        1 AS rank
    FROM named
    UNION ALL
    SELECT
        retried.*,
        2 AS rank
    FROM retried
)

SELECT
    pairs.incident_id,
    pairs.root_incident_id,
    pairs.because,
    -- Whether it began before wherever the clocks may be.
    root.ts_start + micros(root.ts_error_us + mine.ts_error_us) < mine.ts_start
        AS certain
FROM pairs
INNER JOIN extents AS mine ON pairs.incident_id = mine.incident_id
INNER JOIN extents AS root ON pairs.root_incident_id = root.incident_id
WHERE (root.ts_start, root.incident_id) < (mine.ts_start, mine.incident_id)
QUALIFY
    row_number() OVER (
        PARTITION BY pairs.incident_id
        ORDER BY pairs.rank ASC, root.ts_start ASC, root.incident_id ASC
    ) = 1
