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
        clumps.of,
        clumps.name,
        sum(if(clumps.side = 'base', clumps.n, 0))::BIGINT AS base_attempts,
        sum(if(clumps.side = 'base', clumps.n::DOUBLE * clumps.n, 0)) AS base_squares,
        sum(if(clumps.side = 'case', clumps.n, 0))::BIGINT AS case_attempts,
        sum(if(clumps.side = 'case', clumps.n::DOUBLE * clumps.n, 0)) AS case_squares
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

paired AS (
    SELECT
        failures.of,
        failures.name,
        failures.layer,
        failures.cause,
        failures.side,
        failures.y,
        clumps.n
    FROM failures
    INNER JOIN clumps
        ON
            failures.side = clumps.side
            AND failures.of = clumps.of
            AND failures.name = clumps.name
            AND failures.who = clumps.who
            AND failures.ts IS NOT DISTINCT FROM clumps.ts
),

sums AS (
    SELECT
        paired.of,
        paired.name,
        paired.layer,
        paired.cause,
        sum(if(paired.side = 'base', paired.y, 0))::BIGINT AS base_failed,
        sum(if(paired.side = 'base', paired.y::DOUBLE * paired.y, 0))
            AS base_failed_squares,
        sum(if(paired.side = 'base', paired.y::DOUBLE * paired.n, 0)) AS base_crossed,
        sum(if(paired.side = 'case', paired.y, 0))::BIGINT AS case_failed,
        sum(if(paired.side = 'case', paired.y::DOUBLE * paired.y, 0))
            AS case_failed_squares,
        sum(if(paired.side = 'case', paired.y::DOUBLE * paired.n, 0)) AS case_crossed
    FROM paired
    GROUP BY ALL
)

SELECT
    sums.of,
    sums.name,
    sums.layer,
    sums.cause,
    sums.base_failed,
    wholes.base_attempts,
    sums.base_failed_squares,
    sums.base_crossed,
    wholes.base_squares,
    sums.case_failed,
    wholes.case_attempts,
    sums.case_failed_squares,
    sums.case_crossed,
    wholes.case_squares
FROM sums
INNER JOIN wholes ON sums.of = wholes.of AND sums.name = wholes.name
ORDER BY
    sums.of ASC,
    sums.name ASC,
    sums.layer ASC NULLS FIRST,
    sums.cause ASC NULLS FIRST
