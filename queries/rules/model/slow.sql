-- title: Timed out at an engine that had more to do than it could
-- layer: model
-- cause: model.slow
-- role: root
-- precedence: 530
-- needs: conditions
-- known gaps: engines that say nothing of their queue, cache or throughput
SELECT
    failures.attempt_id,
    'model.slow' AS cause,
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
    'no answer within ' || round(any_value(failures.duration_ms) / 1000, 1)
    || ' s while ' || min(conditions.because) AS because
FROM failures
INNER JOIN conditions
    ON
        conditions.cause = 'model.slow'
        AND conditions.clock_status <> 'untied'
        AND NOT failures.adrift
        AND coalesce(failures.engine, conditions.scope) = conditions.scope
        AND may_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
WHERE
    failures.status IN (408, 504)
    AND failures.duration_ms >= 1000 * threshold('slow_s')
    AND failures.forwarded
    -- It got there, as far as the engines tell.
    AND (
        (SELECT coalesce(bool_or(life.in_engine), FALSE) FROM life) IS FALSE
        OR EXISTS (
            SELECT 1
            FROM own
            WHERE own.attempt_id = failures.attempt_id AND own.layer = 'model'
        )
    )
GROUP BY failures.attempt_id
