-- title: It met what a reload had changed for the worse
-- layer: harness
-- cause: harness.config_drift
-- role: root
-- precedence: 255
-- needs: conditions, drifted
-- known gaps: settings that a reload changed without a record of the old value
SELECT
    drifted.attempt_id,
    'harness.config_drift' AS cause,
    'corroborated' AS strength,
    min(conditions.ts_start) AS ts,
    min(conditions.condition_id) AS condition_id,
    NOT bool_or(
        must_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
    ) AS clock_sensitive,
    list_sort(list_distinct(flatten(list(conditions.evidence))))[1:20] AS evidence,
    'status ' || any_value(failures.status) || ' after ' || min(conditions.because)
        AS because
FROM drifted
INNER JOIN failures ON drifted.attempt_id = failures.attempt_id
INNER JOIN conditions
    ON (conditions.scope, conditions.evidence) = (drifted.setting, [drifted.event_id])
WHERE drifted.reached
GROUP BY drifted.attempt_id
