-- title: Users with the most failed attempts
-- topic: failures
-- answers: Whom did it hit most, and of what? One user with one cause points at the client or a pool.
-- param top: integer = 20; how many of them
-- param layer: text; count only what this layer failed
-- column user_id: user; NULL where no log says
-- column attempts: all attempts, failed or not
-- column failed: failed attempts
-- column failed_share: failed attempts as a share of all
-- column main_cause: cause of the most of them
-- column main_cause_failed: how many that cause failed
WITH totals AS (
    SELECT
        attempts.user_id,
        count(*) AS attempts
    FROM attempts
    GROUP BY attempts.user_id
),

failures AS (
    SELECT
        attempts.user_id,
        verdicts.cause,
        count(*) AS failed
    FROM verdicts
    INNER JOIN attempts ON verdicts.attempt_id = attempts.attempt_id
    WHERE $layer IS NULL OR verdicts.layer = $layer
    GROUP BY attempts.user_id, verdicts.cause
)

SELECT
    totals.user_id,
    max(totals.attempts) AS attempts,
    sum(failures.failed)::BIGINT AS failed,
    round(sum(failures.failed) / max(totals.attempts), 4) AS failed_share,
    arg_max(failures.cause, (failures.failed, failures.cause)) AS main_cause,
    max(failures.failed) AS main_cause_failed
FROM failures
INNER JOIN totals ON failures.user_id IS NOT DISTINCT FROM totals.user_id
GROUP BY totals.user_id
ORDER BY failed DESC, totals.user_id ASC NULLS LAST
LIMIT $top
