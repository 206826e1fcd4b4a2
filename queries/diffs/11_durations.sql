-- title: How long the attempts that did not fail took, of one side in its window
SELECT
    attempts.model,
    events.duration_ms
FROM attempts
INNER JOIN events ON attempts.attempt_id = events.event_id
WHERE
    NOT attempts.failed
    AND attempts.model IS NOT NULL
    AND events.duration_ms IS NOT NULL
    AND ($since IS NULL OR attempts.ts_end >= $since)
    AND ($until IS NULL OR attempts.ts_end < $until)
