-- title: Entries of the ledger that charge a request, as they stand there
-- store: table
SELECT
    events.event_id,
    events.request_id,
    events.ts,
    coalesce(events.ts_error_us, events.ts_precision_us) AS ts_error_us,
    coalesce(clocks.status, 'untied') AS clock_status,
    -- Charges alone tie no clock; a stamp with a zone is right to a few seconds.
    CASE
        WHEN clocks.status <> 'untied' THEN events.ts
        WHEN sources.zoned THEN events.ts_raw
    END AS known_ts,
    coalesce(events.user_id, '?') AS user_id,
    events.quota_amount AS amount,
    events.prompt_tokens,
    coalesce(
        try_cast((events.attrs ->> '$.gpus') AS DOUBLE),
        try_cast((events.attrs ->> '$.num_gpus') AS DOUBLE)
    ) AS gpus,
    try_cast((events.attrs ->> '$.params_b') AS DOUBLE) AS params_b,
    try_cast((events.attrs ->> '$.seconds') AS DOUBLE) AS seconds,
    coalesce(try_cast((events.attrs ->> '$.concurrency') AS DOUBLE), 1)
    * coalesce(
        try_cast((events.attrs ->> '$.coef') AS DOUBLE),
        try_cast((events.attrs ->> '$.hardware_factor') AS DOUBLE),
        1
    ) AS coef
FROM events
INNER JOIN sources ON events.source_id = sources.source_id
LEFT JOIN clocks
    ON events.clock_id = clocks.clock_id AND clocks.segment = 0
WHERE events.kind = 'quota_charge' AND events.request_id IS NOT NULL
