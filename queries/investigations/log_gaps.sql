-- title: Times in which a log says nothing, although it did before and after
-- topic: logs
-- answers: Is a piece of a log missing just where it is needed? Logs of untied clocks are left out, and silences no more than twice as long as half of the log's are, such as between snapshots.
-- param gap: duration = 1m; only silences of at least that long
-- param top: integer = 50; how many of them, the longest first
-- column path: log; of rotated files the set
-- column layer: layer
-- column from_ts: last record before it
-- column to_ts: first record after it
-- column silent_s: how long, s
-- column usual_s: longest silence of 99 in 100 of this log, s
-- column attempts: attempts that began in that time
-- column failed: failed ones of these
-- column undetermined: of these, without a cause
WITH seconds AS (
    SELECT
        sources.log_set,
        sources.layer,
        date_trunc('second', events.ts) AS ts
    FROM events
    INNER JOIN sources ON events.source_id = sources.source_id
    WHERE
        events.ts IS NOT NULL
        AND events.kind NOT IN ('config_setting', 'config_comment')
    GROUP BY sources.log_set, sources.layer, date_trunc('second', events.ts)
),

steps AS (
    SELECT
        seconds.log_set,
        seconds.layer,
        lag(seconds.ts) OVER (
            PARTITION BY seconds.log_set, seconds.layer ORDER BY seconds.ts
        ) AS from_ts,
        seconds.ts AS to_ts
    FROM seconds
),

usual AS (
    SELECT
        steps.log_set,
        steps.layer,
        quantile_disc(date_diff('second', steps.from_ts, steps.to_ts), 0.99) AS usual_s,
        quantile_disc(date_diff('second', steps.from_ts, steps.to_ts), 0.5) AS often_s
    FROM steps
    WHERE steps.from_ts IS NOT NULL
    GROUP BY steps.log_set, steps.layer
),

longest AS (
    SELECT
        steps.log_set,
        steps.layer,
        steps.from_ts,
        steps.to_ts,
        date_diff('second', steps.from_ts, steps.to_ts) AS silent_s,
        usual.usual_s
    FROM steps
    INNER JOIN usual
        ON
            steps.log_set = usual.log_set
            AND steps.layer IS NOT DISTINCT FROM usual.layer
    WHERE
        steps.to_ts - steps.from_ts >= $gap
        AND date_diff('second', steps.from_ts, steps.to_ts) > 2 * usual.often_s
    ORDER BY
        silent_s DESC, steps.from_ts ASC, steps.log_set ASC, steps.layer ASC
    LIMIT $top
)

SELECT
    longest.log_set AS path,
    longest.layer,
    longest.from_ts,
    longest.to_ts,
    longest.silent_s,
    longest.usual_s,
    count(attempts.attempt_id) AS attempts,
    count(verdicts.attempt_id) AS failed,
    count(verdicts.attempt_id) FILTER (WHERE verdicts.layer = 'undetermined')
        AS undetermined
FROM longest
LEFT JOIN attempts
    ON
        attempts.ts_start > longest.from_ts
        AND attempts.ts_start < longest.to_ts
LEFT JOIN verdicts ON attempts.attempt_id = verdicts.attempt_id
GROUP BY
    longest.log_set,
    longest.layer,
    longest.from_ts,
    longest.to_ts,
    longest.silent_s,
    longest.usual_s
ORDER BY
    longest.silent_s DESC, longest.from_ts ASC, longest.log_set ASC, longest.layer ASC
