-- title: Refused for quota while nothing ran and reservations waited to be given back
-- layer: quota
-- cause: quota.reclamation_lag
-- role: root
-- precedence: 90
-- needs: lagging, own
-- known gaps: reservations of other users in the same project or tenant pool; refusals
--     that only the gateway recorded
SELECT
    failures.attempt_id,
    'quota.reclamation_lag' AS cause,
    'corroborated' AS strength,
    lagging.ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    list_sort(list_append(lagging.evidence, lagging.event_id))[1:20] AS evidence,
    'refused while ' || lagging.amount || ' of ' || lagging.user_id
    || ' waited to be given back and nothing of it was in use' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
INNER JOIN lagging ON own.event_id = lagging.event_id
