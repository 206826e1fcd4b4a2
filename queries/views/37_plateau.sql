-- title: Seconds of refusals at the most ever in flight, where that looks like a limit
-- store: table
WITH refused AS (
    SELECT
        date_trunc('second', refusals.ts_end) AS second,
        count(*) AS refusals
    FROM refusals
    INNER JOIN failures ON refusals.attempt_id = failures.attempt_id
    WHERE
        failures.edge_forwarded IS FALSE
        -- What config or log says needs no guess.
        AND NOT EXISTS (
            SELECT 1
            FROM settings
            WHERE
                settings.key = 'max_concurrent_requests'
                AND settings.number IS NOT NULL
        )
        -- Whoever has a word of its own was refused for that.
        AND NOT EXISTS (
            SELECT 1
            FROM own
            WHERE
                own.attempt_id = refusals.attempt_id
                AND own.severity IN ('warning', 'error', 'critical')
        )
    GROUP BY date_trunc('second', refusals.ts_end)
),

levels AS (
    SELECT
        refused.second,
        refused.refusals,
        load.in_flight,
        CASE WHEN load.second = refused.second THEN load.started ELSE 0 END AS started,
        (SELECT max(every.in_flight) FROM load AS every) AS most
    FROM refused
    ASOF INNER JOIN load ON refused.second >= load.second
),

-- A limit holds the level while places are given back and taken again; what merely
-- comes at once, or at a rate, does not stop at one number.
flat AS (
    SELECT
        levels.most,
        count(*) AS seconds,
        sum(levels.refusals)::BIGINT AS refusals
    FROM levels
    GROUP BY levels.most
    HAVING
        levels.most >= 4
        AND count(*) >= 8
        AND count(*) FILTER (WHERE levels.in_flight = levels.most) >= 0.5 * count(*)
        -- At the end of a second one place may just have been given back.
        AND count(*) FILTER (
            WHERE levels.in_flight >= levels.most - greatest(1, 0.1 * levels.most)
        ) >= 0.9 * count(*)
        AND sum(levels.started) >= 2 * levels.most
)

SELECT
    levels.second,
    flat.most AS number,
    flat.refusals,
    flat.seconds
FROM levels
INNER JOIN flat ON levels.most = flat.most
WHERE levels.in_flight >= levels.most - greatest(1, 0.1 * levels.most)
