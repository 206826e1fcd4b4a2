-- title: No answer while all workers of the harness were stuck
-- layer: harness
-- cause: harness.hung
-- role: root
-- precedence: 540
-- needs: conditions
-- known gaps: harnesses that have neither a metric of their workers nor a probe
SELECT
    failures.attempt_id,
    'harness.hung' AS cause,
    'corroborated' AS strength,
    min(conditions.ts_start) AS ts,
    min(conditions.condition_id) AS condition_id,
    NOT bool_or(
        must_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
    ) AS clock_sensitive,
    flatten(list(conditions.evidence ORDER BY conditions.condition_id))[1:20]
        AS evidence,
    min(conditions.because) AS because
FROM failures
INNER JOIN conditions
    ON
        conditions.cause = 'harness.hung'
        AND conditions.clock_status <> 'untied'
        AND NOT failures.adrift
        AND may_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
WHERE
    failures.status IN (408, 499, 504)
    AND failures.duration_ms >= 1000 * threshold('slow_s')
    AND NOT EXISTS (
        SELECT 1
        FROM own
        WHERE own.attempt_id = failures.attempt_id AND own.layer = 'model'
    )
GROUP BY failures.attempt_id
