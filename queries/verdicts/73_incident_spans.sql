-- title: From when to when an incident raised the share of failures, by change point
-- store: table
WITH totals AS (
    SELECT
        incident_seconds.incident_id,
        sum(incident_seconds.failed)::BIGINT AS failed,
        sum(incident_seconds.attempts)::BIGINT AS attempts
    FROM incident_seconds
    WHERE NOT incident_seconds.later
    GROUP BY incident_seconds.incident_id
),

-- A second weighs what its failures are above half of the mean share of failures, and
-- the stretch that weighs most is the incident: a stray failure long before is not
-- worth the good attempts between. Whole numbers, since their sum has no order.
levels AS (
    SELECT
        incident_seconds.incident_id,
        incident_seconds.second,
        2 * totals.attempts * incident_seconds.failed
        - totals.failed * incident_seconds.attempts AS weight,
        sum(
            2 * totals.attempts * incident_seconds.failed
            - totals.failed * incident_seconds.attempts
        ) OVER (
            PARTITION BY incident_seconds.incident_id
            ORDER BY incident_seconds.second
            ROWS UNBOUNDED PRECEDING
        )::BIGINT AS level
    FROM incident_seconds
    INNER JOIN totals ON incident_seconds.incident_id = totals.incident_id
    WHERE NOT incident_seconds.later
),

rises AS (
    SELECT
        levels.incident_id,
        levels.second,
        levels.level,
        levels.level - levels.weight AS level_before,
        min(levels.level - levels.weight) OVER (
            PARTITION BY levels.incident_id
            ORDER BY levels.second
            ROWS UNBOUNDED PRECEDING
        ) AS lowest
    FROM levels
),

tops AS (
    SELECT
        rises.incident_id,
        arg_max(
            rises.second, (rises.level - rises.lowest, -epoch_us(rises.second))
        ) AS last_second,
        arg_max(
            rises.lowest, (rises.level - rises.lowest, -epoch_us(rises.second))
        ) AS lowest
    FROM rises
    GROUP BY rises.incident_id
),

stretches AS (
    SELECT
        tops.incident_id,
        max(rises.second) AS first_second,
        any_value(tops.last_second) AS last_second
    FROM tops
    INNER JOIN rises
        ON
            tops.incident_id = rises.incident_id
            AND tops.lowest = rises.level_before
            AND tops.last_second >= rises.second
    GROUP BY tops.incident_id
),

found AS (
    SELECT
        incident_members.incident_id,
        min(incident_members.ts_start) FILTER (
            WHERE
            date_trunc('second', incident_members.ts_end)
            BETWEEN stretches.first_second AND stretches.last_second
        ) AS ts_onset,
        min(incident_members.ts_end) FILTER (
            WHERE
            date_trunc('second', incident_members.ts_end)
            BETWEEN stretches.first_second AND stretches.last_second
        ) AS ts_onset_end,
        max(incident_members.ts_end) FILTER (
            WHERE
            date_trunc('second', incident_members.ts_end)
            BETWEEN stretches.first_second AND stretches.last_second
        ) AS ts_over,
        min(incident_members.ts_start) AS ts_first,
        min(incident_members.ts_end) AS ts_first_end,
        max(incident_members.ts_end) AS ts_last,
        -- Several bursts of one incident, with service between: all of it.
        2 * count(*) FILTER (
            WHERE
            date_trunc('second', incident_members.ts_end)
            BETWEEN stretches.first_second AND stretches.last_second
        ) >= count(*) AS clear
    FROM incident_members
    LEFT JOIN stretches ON incident_members.incident_id = stretches.incident_id
    GROUP BY incident_members.incident_id
),

chosen AS (
    SELECT
        found.incident_id,
        CASE WHEN found.clear THEN found.ts_onset ELSE found.ts_first END AS ts_onset,
        CASE WHEN found.clear THEN found.ts_onset_end ELSE found.ts_first_end END
            AS ts_onset_end,
        CASE WHEN found.clear THEN found.ts_over ELSE found.ts_last END AS ts_over,
        found.ts_last
    FROM found
)

SELECT
    chosen.incident_id,
    chosen.ts_onset,
    chosen.ts_onset_end,
    chosen.ts_over,
    sum(incident_seconds.attempts) FILTER (
        WHERE
        incident_seconds.second
        BETWEEN date_trunc('second', chosen.ts_onset) AND chosen.ts_over
    )::BIGINT AS traffic,
    sum(incident_seconds.failed) FILTER (
        WHERE
        incident_seconds.second
        BETWEEN date_trunc('second', chosen.ts_onset) AND chosen.ts_over
    )::BIGINT AS failed,
    coalesce(bool_and(incident_seconds.by_engine), FALSE) AS by_engine,
    -- Whoever is served afterwards shows that it is over.
    coalesce(
        sum(incident_seconds.good) FILTER (
            WHERE incident_seconds.second > chosen.ts_last
        ),
        0
    ) > 0 AS served_after
FROM chosen
LEFT JOIN incident_seconds ON chosen.incident_id = incident_seconds.incident_id
GROUP BY
    chosen.incident_id, chosen.ts_onset, chosen.ts_onset_end, chosen.ts_over
