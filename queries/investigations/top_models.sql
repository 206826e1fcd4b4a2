-- title: Models with the most failed attempts
-- topic: failures
-- answers: Which model failed most, and of what?
-- param top: integer = 20; how many of them
-- param layer: text; count only what this layer failed
-- column model: model that was asked for; NULL where no log says
-- column attempts: all attempts, failed or not
-- column failed: failed attempts
-- column failed_share: failed attempts as a share of all
-- column main_cause: cause of the most of them
-- column main_cause_failed: how many that cause failed
WITH totals AS (
    SELECT
        attempts.model,
        count(*) AS attempts
    FROM attempts
    GROUP BY attempts.model
),

failures AS (
    SELECT
        attempts.model,
        verdicts.cause,
        count(*) AS failed
    FROM verdicts
    INNER JOIN attempts ON verdicts.attempt_id = attempts.attempt_id
    WHERE $layer IS NULL OR verdicts.layer = $layer
    GROUP BY attempts.model, verdicts.cause
)

SELECT
    totals.model,
    max(totals.attempts) AS attempts,
    sum(failures.failed)::BIGINT AS failed,
    round(sum(failures.failed) / max(totals.attempts), 4) AS failed_share,
    arg_max(failures.cause, (failures.failed, failures.cause)) AS main_cause,
    max(failures.failed) AS main_cause_failed
FROM failures
INNER JOIN totals ON failures.model IS NOT DISTINCT FROM totals.model
GROUP BY totals.model
ORDER BY failed DESC, totals.model ASC NULLS LAST
LIMIT $top
