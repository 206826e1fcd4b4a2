-- title: Refused with 503 before forwarding while a plugin was cut off
-- layer: harness
-- cause: harness.plugin_failed
-- role: root
-- precedence: 280
-- needs: conditions
-- known gaps: requests that do not use the plugin and failed with 503 for another reason
SELECT
    failures.attempt_id,
    'harness.plugin_failed' AS cause,
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
    '503 before forwarding while there was '
    || string_agg(conditions.because, ', ' ORDER BY conditions.condition_id)
        AS because
FROM failures
INNER JOIN conditions
    ON
        conditions.scope_kind = 'plugin'
        AND conditions.clock_status <> 'untied'
        AND NOT failures.adrift
        AND may_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            conditions.ts_start, conditions.ts_end, conditions.ts_error_us
        )
WHERE
    failures.status = 503
    AND failures.forwarded IS FALSE
    -- Whoever has a word of its own needs no other.
    AND NOT EXISTS (
        SELECT 1
        FROM own
        WHERE
            own.attempt_id = failures.attempt_id
            AND own.severity IN ('warning', 'error')
            -- That it failed is no reason, and that its plugin did is this one.
            AND own.kind NOT IN (
                'plugin_failed', 'request_failed', 'laundered', 'other'
            )
    )
    -- Another limit that was turning requests away then could be it as well.
    AND NOT EXISTS (
        SELECT 1
        FROM edge_matches
        WHERE edge_matches.attempt_id = failures.attempt_id
    )
    AND NOT EXISTS (
        SELECT 1
        FROM conditions AS other
        WHERE
            other.scope_kind = 'zone'
            AND other.clock_status <> 'untied'
            AND may_overlap(
                failures.ts_start, failures.ts_end, failures.ts_error_us,
                other.ts_start, other.ts_end, other.ts_error_us
            )
    )
GROUP BY failures.attempt_id
