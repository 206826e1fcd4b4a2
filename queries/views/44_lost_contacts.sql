-- title: Moments in which somebody found an engine gone
-- store: table
WITH words AS (
    SELECT
        own.attempt_id,
        own.kinds
    FROM own
    WHERE own.layer = 'harness'
    UNION ALL
    SELECT
        edge_matches.attempt_id,
        [edge_matches.kind] AS kinds
    FROM edge_matches
    WHERE edge_matches.settled
)

SELECT
    failures.engine,
    failures.ts_end AS ts
FROM failures
SEMI JOIN words
    ON
        failures.attempt_id = words.attempt_id
        AND list_has_any(
            words.kinds, ['connect_refused', 'upstream_closed', 'upstream_reset']
        )
WHERE failures.engine IS NOT NULL
GROUP BY failures.engine, failures.ts_end
