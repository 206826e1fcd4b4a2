-- title: Requests that were at an engine each time it died
-- store: table
WITH deaths AS (
    SELECT
        troubles.engine,
        -- A death ends with the next load.
        (
            SELECT count(*)
            FROM loads
            WHERE
                loads.engine = troubles.engine
                AND loads.kind = 'engine_ready'
                AND loads.ts < troubles.ts
        ) AS life,
        min(troubles.ts) AS ts,
        max(troubles.ts_error_us) AS ts_error_us
    FROM troubles
    WHERE
        troubles.death
        AND NOT troubles.orderly
        AND troubles.clock_status <> 'untied'
    GROUP BY ALL
),

repeated_deaths AS (
    SELECT
        deaths.*,
        count(*) OVER (PARTITION BY deaths.engine) AS deaths
    FROM deaths
    QUALIFY count(*) OVER (PARTITION BY deaths.engine) > 1
),

present AS (
    SELECT
        repeated_deaths.engine,
        failures.request_id,
        any_value(repeated_deaths.deaths) AS deaths,
        count(DISTINCT repeated_deaths.life) AS met,
        list(DISTINCT failures.attempt_id ORDER BY failures.attempt_id) AS evidence
    FROM repeated_deaths
    INNER JOIN failures
        ON
            repeated_deaths.engine = failures.engine
            AND failures.ts_start
            <= repeated_deaths.ts
            + micros(repeated_deaths.ts_error_us + failures.ts_error_us)
            AND failures.ts_end
            >= repeated_deaths.ts - INTERVAL 1 SECOND
            - micros(repeated_deaths.ts_error_us + failures.ts_error_us)
    WHERE failures.request_id IS NOT NULL AND failures.forwarded
    GROUP BY repeated_deaths.engine, failures.request_id
),

served AS (
    SELECT attempts.request_id
    FROM attempts
    WHERE NOT attempts.failed AND (SELECT count(*) FROM repeated_deaths) > 0
)

SELECT
    present.engine,
    present.request_id,
    present.evidence
FROM present
ANTI JOIN served ON present.request_id = served.request_id
WHERE present.met = present.deaths
QUALIFY count(*) OVER (PARTITION BY present.engine) = 1
