-- title: 504 after a wait at the upstream
-- layer: harness
-- cause: harness.upstream_timeout
-- role: symptom
-- precedence: 910
-- known gaps: a slow or hung model without a record of it
SELECT
    failures.attempt_id,
    'harness.upstream_timeout' AS cause,
    'inferred' AS strength,
    failures.ts_end AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    [failures.attempt_id] AS evidence,
    '504 after ' || round(failures.duration_ms / 1000, 1) || ' s'
    || CASE WHEN failures.tried_upstream THEN ' at the upstream' ELSE '' END
    || coalesce(
        ', which waits for it ' || settings.number::BIGINT || ' s', ''
    ) AS because
FROM failures
LEFT JOIN settings ON settings.key = 'upstream_timeout_s'
WHERE
    failures.status = 504
    AND failures.upstream_header_ms IS NULL
    AND (
        failures.tried_upstream
        -- A gateway without an edge says how long, not where.
        OR (
            failures.duration_ms >= 1000 * threshold('slow_s')
            AND failures.attempt_id IN (SELECT uncovered.event_id FROM uncovered)
        )
    )
