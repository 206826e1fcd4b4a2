-- title: The engine finished it after its time had run out
-- layer: model
-- cause: model.slow
-- role: root
-- precedence: 531
-- needs: own
-- known gaps: engines that say nothing of what they finish
SELECT
    failures.attempt_id,
    'model.slow' AS cause,
    'corroborated' AS strength,
    failures.ts_start AS ts,
    CAST(NULL AS BIGINT) AS condition_id,
    FALSE AS clock_sensitive,
    [own.event_id] AS evidence,
    'the engine finished it '
    || round(date_diff('millisecond', failures.ts_end, own.ts) / 1000, 1)
    || ' s after the time-out' AS because
FROM failures
INNER JOIN own ON failures.attempt_id = own.attempt_id
WHERE
    failures.status IN (408, 504)
    AND failures.duration_ms >= 1000 * threshold('slow_s')
    AND own.kind = 'request_finished'
    AND of_engine(own.layer, own.component)
    AND own.clock_status <> 'untied'
    AND own.ts > failures.ts_end + micros(own.ts_error_us + failures.ts_error_us)
QUALIFY
    row_number() OVER (
        PARTITION BY failures.attempt_id ORDER BY own.ts ASC, own.event_id ASC
    ) = 1
