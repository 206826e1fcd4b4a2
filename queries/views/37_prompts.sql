-- title: Failed attempts whose prompt was longer than the context, where both are known
-- store: table
SELECT
    failures.attempt_id,
    max(events.prompt_tokens) AS tokens,
    arg_max(events.event_id, (events.prompt_tokens, events.event_id)) AS event_id,
    any_value(settings.number) AS most,
    any_value(settings.event_id) AS limit_id
FROM failures
INNER JOIN events ON failures.request_id = events.request_id
INNER JOIN settings ON settings.key = 'context_length'
WHERE
    (SELECT count(*) FROM settings WHERE settings.key = 'context_length') > 0
    AND events.prompt_tokens > settings.number
GROUP BY failures.attempt_id
