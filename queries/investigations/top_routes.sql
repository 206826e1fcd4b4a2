-- title: Routes with the most failed attempts
-- topic: failures
-- answers: Which path of the API failed most, and of what?
-- param top: integer = 20; how many of them
-- param layer: text; count only what this layer failed
-- column route: method and path, without the query
-- column attempts: attempts with that route
-- column failed: failed attempts
-- column failed_share: failed attempts as a share of all
-- column main_cause: cause of the most of them
-- column main_cause_failed: how many that cause failed
WITH routes AS (
    SELECT
        attempts.attempt_id,
        regexp_extract(events.message, '^(\S+ [^\s?]+)', 1) AS route
    FROM attempts
    INNER JOIN events ON attempts.attempt_id = events.event_id
    WHERE events.kind IN ('access', 'engine_access', 'gateway_access')
),

totals AS (
    SELECT
        routes.route,
        count(*) AS attempts
    FROM routes
    GROUP BY routes.route
),

failures AS (
    SELECT
        routes.route,
        verdicts.cause,
        count(*) AS failed
    FROM verdicts
    INNER JOIN routes ON verdicts.attempt_id = routes.attempt_id
    WHERE $layer IS NULL OR verdicts.layer = $layer
    GROUP BY routes.route, verdicts.cause
)

SELECT
    nullif(failures.route, '') AS route,
    max(totals.attempts) AS attempts,
    sum(failures.failed)::BIGINT AS failed,
    round(sum(failures.failed) / max(totals.attempts), 4) AS failed_share,
    arg_max(failures.cause, (failures.failed, failures.cause)) AS main_cause,
    max(failures.failed) AS main_cause_failed
FROM failures
INNER JOIN totals ON failures.route = totals.route
GROUP BY failures.route
ORDER BY failed DESC, failures.route ASC
LIMIT $top
