-- title: Failed attempts by layer, cause and strength, with an example of each
-- topic: failures
-- answers: What failed requests at all, how sure is that, and which request shows it?
-- column layer: layer that failed them
-- column cause: cause
-- column strength: how sure that is: proven, corroborated, inferred, undetermined
-- column failed: failed attempts
-- column users: users whom they hit
-- column models: models that were asked for
-- column first_ts: start of the first one
-- column last_ts: start of the last one
-- column example: id of the first request
SELECT
    verdicts.layer,
    verdicts.cause,
    verdicts.strength,
    count(*) AS failed,
    count(DISTINCT attempts.user_id) AS users,
    count(DISTINCT attempts.model) AS models,
    min(attempts.ts_start) AS first_ts,
    max(attempts.ts_start) AS last_ts,
    arg_min(verdicts.request_id, (attempts.ts_start, attempts.attempt_id)) AS example
FROM verdicts
INNER JOIN attempts ON verdicts.attempt_id = attempts.attempt_id
GROUP BY verdicts.layer, verdicts.cause, verdicts.strength
ORDER BY failed DESC, verdicts.cause ASC, verdicts.strength ASC
