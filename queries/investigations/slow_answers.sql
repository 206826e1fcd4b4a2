-- title: Answers that took more than 10 s to end (urt)
-- topic: load
-- answers: Which answers of the model were slow, and did they fail for it?
-- param threshold_ms: number = 10000; only those that took longer, ms
-- param top: integer = 50; how many of them
-- column request_id: request
-- column attempt: number of the attempt
-- column ts_start: start of the attempt
-- column user_id: user
-- column model: model that was asked for
-- column engine: engine that it was sent to
-- column upstream: address of the upstream
-- column status: status that the client was told
-- column response_ms: until the end of the answer, ms
-- column duration_ms: duration of the whole exchange, ms
-- column cause: cause, when it failed
SELECT
    hops.request_id,
    hops.attempt,
    hops.ts_start,
    hops.user_id,
    hops.model,
    hops.engine,
    hops.upstream,
    hops.status,
    hops.response_ms,
    hops.duration_ms,
    verdicts.cause
FROM hops
LEFT JOIN verdicts ON hops.attempt_id = verdicts.attempt_id
WHERE hops.response_ms > $threshold_ms
ORDER BY hops.response_ms DESC, hops.attempt_id ASC, hops.hop ASC
LIMIT $top
