-- title: Failed attempts of both sides, by what can be compared, with sums over clumps
WITH spread AS (
    SELECT
        seen.side,
        seen.who,
        seen.ts,
        seen.layer,
        seen.cause,
        seen.attempts,
        views.of,
        views.name
    FROM seen,
        LATERAL (
            VALUES
            ('all', ''),
            ('model', seen.model),
            ('user', seen.user_id),
            ('route', seen.route)
        ) AS views (of, name)
    WHERE views.name IS NOT NULL
),

clumps AS (
    SELECT
        spread.side,
        spread.of,
        spread.name,
        spread.who,
        spread.ts,
        sum(spread.attempts)::BIGINT AS n
    FROM spread
    GROUP BY ALL
),

wholes AS (
    SELECT
        clumps.side,
        clumps.of,
        clumps.name,
        sum(clumps.n)::BIGINT AS attempts,
        sum(clumps.n::DOUBLE * clumps.n) AS squares
    FROM clumps
    GROUP BY ALL
),

failures AS (
    SELECT
        spread.side,
        spread.of,
        spread.name,
        spread.who,
        spread.ts,
        if(kinds.kind = 'any', NULL, spread.layer) AS layer,
        if(kinds.kind = 'cause', spread.cause, NULL) AS cause,
        sum(spread.attempts)::BIGINT AS y
    FROM spread
    CROSS JOIN (VALUES ('any'), ('layer'), ('cause')) AS kinds (kind)
    WHERE
        spread.cause IS NOT NULL
        AND (kinds.kind != 'layer' OR spread.of = 'all')
    GROUP BY ALL
),

sums AS (
    SELECT
        failures.side,
        failures.of,
        failures.name,
        failures.layer,
        failures.cause,
        sum(failures.y)::BIGINT AS failed,
        sum(failures.y::DOUBLE * failures.y) AS failed_squares,
        sum(failures.y::DOUBLE * clumps.n) AS crossed
    FROM failures
    INNER JOIN clumps
        ON
            failures.side = clumps.side
            AND failures.of = clumps.of
            AND failures.name = clumps.name
            AND failures.who = clumps.who
            AND failures.ts IS NOT DISTINCT FROM clumps.ts
    GROUP BY ALL
),

subjects AS (
    SELECT DISTINCT
        sums.of,
        sums.name,
        sums.layer,
        sums.cause
    FROM sums
)

SELECT
    subjects.of,
    subjects.name,
    subjects.layer,
    subjects.cause,
    coalesce(base.failed, 0) AS base_failed,
    coalesce(base_whole.attempts, 0) AS base_attempts,
    coalesce(base.failed_squares, 0) AS base_failed_squares,
    coalesce(base.crossed, 0) AS base_crossed,
    coalesce(base_whole.squares, 0) AS base_squares,
    coalesce(later.failed, 0) AS case_failed,
    coalesce(later_whole.attempts, 0) AS case_attempts,
    coalesce(later.failed_squares, 0) AS case_failed_squares,
    coalesce(later.crossed, 0) AS case_crossed,
    coalesce(later_whole.squares, 0) AS case_squares
FROM subjects
LEFT JOIN sums AS base
    ON
        base.side = 'base'
        AND subjects.of = base.of
        AND subjects.name = base.name
        AND subjects.layer IS NOT DISTINCT FROM base.layer
        AND subjects.cause IS NOT DISTINCT FROM base.cause
LEFT JOIN sums AS later
    ON
        later.side = 'case'
        AND subjects.of = later.of
        AND subjects.name = later.name
        AND subjects.layer IS NOT DISTINCT FROM later.layer
        AND subjects.cause IS NOT DISTINCT FROM later.cause
LEFT JOIN wholes AS base_whole
    ON
        base_whole.side = 'base'
        AND subjects.of = base_whole.of
        AND subjects.name = base_whole.name
LEFT JOIN wholes AS later_whole
    ON
        later_whole.side = 'case'
        AND subjects.of = later_whole.of
        AND subjects.name = later_whole.name
ORDER BY
    subjects.of ASC,
    subjects.name ASC,
    subjects.layer ASC NULLS FIRST,
    subjects.cause ASC NULLS FIRST
