-- title: The request's own record says that its model has no route, and nothing took one
-- layer: harness
-- cause: harness.routing
-- role: root
-- precedence: 235
-- needs: own
-- known gaps: a route that was taken out before the logs begin
WITH lost AS (
    SELECT
        own.attempt_id,
        own.event_id,
        own.ts
    FROM own
    INNER JOIN events ON own.event_id = events.event_id
    WHERE
        own.kind = 'no_route'
        -- A channel is set up by hand; an engine comes and goes, a deployment rests.
        AND regexp_matches(events.message, '(?i)channel|渠道')
        AND NOT regexp_matches(events.message, '(?i)try again|cooldown|temporarily')
)

SELECT
    failures.attempt_id,
    'harness.routing' AS cause,
    'proven' AS strength,
    min(lost.ts) AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list(lost.event_id ORDER BY lost.event_id) AS evidence,
    'own record: no route to the model ' || any_value(failures.model) AS because
FROM failures
INNER JOIN lost ON failures.attempt_id = lost.attempt_id
WHERE
    failures.model IS NOT NULL
    AND NOT EXISTS (
        SELECT 1
        FROM attempts
        WHERE attempts.model = failures.model AND NOT attempts.failed
    )
    -- An upstream that failed or was taken out may have been the route.
    AND NOT EXISTS (
        SELECT 1
        FROM marks
        LEFT JOIN life ON marks.request_id = life.request_id
        WHERE
            marks.layer = 'harness'
            AND list_has_any(
                marks.kinds, ['upstream_error', 'upstream_disabled', 'engine_exited']
            )
            AND coalesce(life.model, failures.model) = failures.model
    )
    AND NOT EXISTS (
        SELECT 1
        FROM conditions
        WHERE conditions.layer = 'model'
    )
GROUP BY failures.attempt_id
