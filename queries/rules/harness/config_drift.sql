-- title: Refused with 429 before forwarding after a reload had lowered the limit
-- layer: harness
-- cause: harness.config_drift
-- role: root
-- precedence: 255
-- known gaps: limits that a reload changed without a record of the old value
SELECT
    refusals.attempt_id,
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
    'refused with up to ' || any_value(refusals.most_in_flight) || ' in flight, after '
    || min(conditions.because) AS because
FROM refusals
INNER JOIN failures ON refusals.attempt_id = failures.attempt_id
INNER JOIN conditions
    ON
        conditions.clock_status <> 'untied'
        AND may_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
INNER JOIN lowered_limits
    ON
        list_contains(conditions.evidence, lowered_limits.event_id)
        AND refusals.most_in_flight >= lowered_limits.after
GROUP BY refusals.attempt_id
