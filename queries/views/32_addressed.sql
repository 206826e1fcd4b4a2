-- title: Failed attempts that nobody but the edge saw, with the engine at their address
-- store: table
WITH several AS (
    SELECT count(DISTINCT engine_names.engine) > 1 AS found
    FROM engine_names
),

asked AS (
    SELECT attempts_failed.attempt_id
    FROM attempts_failed
    WHERE
        attempts_failed.engine IS NULL
        AND attempts_failed.has_access
        -- Of several addresses nothing tells which one decided.
        AND coalesce(attempts_failed.upstream_hops, 1) = 1
        AND (SELECT several.found FROM several)
),

written AS (
    SELECT
        asked.attempt_id,
        access.upstream_addr
    FROM access
    INNER JOIN asked ON access.event_id = asked.attempt_id
    WHERE access.upstream_addr IS NOT NULL
    UNION
    SELECT
        asked.attempt_id,
        edge_matches.upstream_addr
    FROM edge_matches
    INNER JOIN asked ON edge_matches.attempt_id = asked.attempt_id
    WHERE edge_matches.settled AND edge_matches.upstream_addr IS NOT NULL
),

tried AS (
    SELECT
        written.attempt_id,
        min(lower(regexp_extract(written.upstream_addr, '^(?:\w+://)?([^/, ]+)', 1)))
            AS address
    FROM written
    GROUP BY written.attempt_id
    HAVING
        count(
            DISTINCT lower(
                regexp_extract(written.upstream_addr, '^(?:\w+://)?([^/, ]+)', 1)
            )
        ) = 1
),

-- Whoever came through is in an engine's log: of many a part will do.
samples AS (
    SELECT
        lower(regexp_extract(access.upstream_addr, '^(?:\w+://)?([^/, ]+)', 1))
            AS address,
        lives.model_engine AS engine,
        count(*) AS requests
    FROM access
    INNER JOIN lives ON access.request_id = lives.request_id
    WHERE
        (SELECT count(*) FROM tried) > 0
        AND access.upstream_hops = 1
        AND lives.model_engine IS NOT NULL
        AND (
            (SELECT count(*) FROM life) < 100000
            OR hash(access.request_id) % 16 = 0
        )
    GROUP BY ALL
),

learned AS (
    SELECT
        samples.address,
        arg_max(samples.engine, (samples.requests, samples.engine)) AS engine
    FROM samples
    GROUP BY samples.address
    HAVING
        sum(samples.requests) >= 2
        AND max(samples.requests) >= 0.9 * sum(samples.requests)
),

-- Or the address is a name, and a log is called like it.
named AS (
    SELECT
        places.address,
        min(engine_names.engine) AS engine
    FROM (SELECT DISTINCT tried.address FROM tried) AS places
    INNER JOIN engine_names
        ON
            split_part(split_part(places.address, ':', 1), '.', 1)
            = lower(replace(engine_names.label, '_', '-'))
    GROUP BY places.address
    HAVING count(DISTINCT engine_names.engine) = 1
)

SELECT
    tried.attempt_id,
    coalesce(learned.engine, named.engine) AS engine
FROM tried
LEFT JOIN learned ON tried.address = learned.address
LEFT JOIN named ON tried.address = named.address
WHERE coalesce(learned.engine, named.engine) IS NOT NULL
