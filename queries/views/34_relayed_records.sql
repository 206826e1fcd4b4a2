-- title: Records that are an attempt's by the exchange alone, not by its id
-- store: table
SELECT
    own.attempt_id,
    own.event_id
FROM own
INNER JOIN relayed ON own.attempt_id = relayed.attempt_id
INNER JOIN events
    ON own.event_id = events.event_id AND relayed.request_id = events.request_id
WHERE (SELECT count(*) FROM relayed) > 0
UNION ALL
SELECT
    beside.attempt_id,
    beside.event_id
FROM beside
