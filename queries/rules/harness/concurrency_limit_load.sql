-- title: Refused with 429 before forwarding while as many as allowed were in flight
-- layer: harness
-- cause: harness.concurrency_limit
-- role: root
-- precedence: 260
-- known gaps: requests in flight that no kept log shows; a limit changed meanwhile
SELECT
    refusals.attempt_id,
    'harness.concurrency_limit' AS cause,
    'corroborated' AS strength,
    refusals.ts_start AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    -- Of a limit that --config states there is no record.
    list_sort(list_distinct([refusals.attempt_id, settings.event_id])) AS evidence,
    'refused before forwarding, up to ' || refusals.most_in_flight || ' of '
    || refusals.allowed_anywhere::BIGINT || ' allowed in flight' AS because
FROM refusals
INNER JOIN settings ON settings.key = 'max_concurrent_requests'
WHERE refusals.most_in_flight >= refusals.allowed_anywhere AND NOT refusals.told_minute
UNION ALL
-- A limit that only its plateau shows.
SELECT
    refusals.attempt_id,
    'harness.concurrency_limit' AS cause,
    'corroborated' AS strength,
    refusals.ts_start AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    [refusals.attempt_id] AS evidence,
    'refused before forwarding with as many in flight as ever: ' || plateau.number
    || ', where ' || plateau.refusals || ' refusals in ' || plateau.seconds
    || ' different seconds show a limit that neither a log nor --config states'
        AS because
FROM refusals
INNER JOIN plateau ON date_trunc('second', refusals.ts_end) = plateau.second
INNER JOIN failures ON refusals.attempt_id = failures.attempt_id
WHERE
    failures.edge_forwarded IS FALSE
    AND NOT refusals.told_minute
    AND NOT EXISTS (
        SELECT 1
        FROM own
        WHERE
            own.attempt_id = refusals.attempt_id
            AND own.severity IN ('warning', 'error', 'critical')
    )
