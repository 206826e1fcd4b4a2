-- title: Attempts refused with 429 before forwarding, with the load at that moment
-- store: table
WITH refused AS (
    SELECT
        failures.attempt_id,
        failures.source_id,
        failures.ts_start,
        failures.ts_end,
        failures.user_id,
        date_trunc('second', failures.ts_end) AS second,
        -- What a limit of bursts tells, and none of what is in flight.
        coalesce(
            (access.attrs ->> '$.retry_after'),
            (access.attrs ->> '$.sent_http_retry_after'),
            ''
        ) = '60' AS told_minute,
        -- A harness gives a place back a little before the edge has logged it.
        failures.ts_start - INTERVAL 50 MILLISECOND AS first_ts,
        failures.ts_end + INTERVAL 50 MILLISECOND AS last_ts
    FROM failures
    INNER JOIN access ON failures.attempt_id = access.event_id
    WHERE
        failures.status = 429
        AND failures.forwarded IS NOT TRUE
        AND failures.has_access
),

-- The loosest count that stamps of whole seconds allow: whatever was running when the
-- second before began, plus all that started until the second after.
loose AS (
    SELECT
        refused.attempt_id,
        coalesce(before.in_flight, 0) + coalesce(previous.started, 0)
        + coalesce(same.started, 0) AS most
    FROM refused
    ASOF LEFT JOIN load AS before
        ON refused.second - INTERVAL 1 SECOND > before.second
    -- By equality each: a range would be tried on every second.
    LEFT JOIN load AS previous
        ON refused.second - INTERVAL 1 SECOND = previous.second
    LEFT JOIN load AS same ON refused.second = same.second
),

-- With finer stamps those are counted that were under way right then.
placed AS (
    SELECT
        attempts.ts_start,
        attempts.ts_end
    FROM attempts
    WHERE
        (SELECT count(*) FROM refused) > 0
        AND (
            SELECT max(every.ts_error_us)
            FROM attempts AS every
        ) <= 20000
        AND (attempts.status < 400 OR attempts.forwarded)
),

short AS (
    SELECT refused.*
    FROM refused
    WHERE refused.last_ts - refused.first_ts <= INTERVAL 1 SECOND
),

near AS (
    SELECT DISTINCT
        unnest(
            [
                date_trunc('second', short.first_ts),
                date_trunc('second', short.last_ts)
            ]
        ) AS second
    FROM short
),

moves AS (
    SELECT
        placed.ts_start AS ts,
        1 AS started,
        0 AS ended
    FROM placed
    SEMI JOIN near ON date_trunc('second', placed.ts_start) = near.second
    UNION ALL
    SELECT
        placed.ts_end AS ts,
        0 AS started,
        1 AS ended
    FROM placed
    SEMI JOIN near ON date_trunc('second', placed.ts_end) = near.second
),

running AS (
    SELECT
        moves.ts,
        sum(sum(moves.started)) OVER (ORDER BY moves.ts)::BIGINT AS started,
        sum(sum(moves.ended)) OVER (ORDER BY moves.ts)::BIGINT AS ended
    FROM moves
    GROUP BY moves.ts
),

exact AS (
    SELECT
        short.attempt_id,
        coalesce(load.in_flight, 0)
        + coalesce(until.started, 0) - coalesce(since.started, 0)
        - (coalesce(begun.ended, 0) - coalesce(since.ended, 0)) AS most
    FROM short
    ASOF LEFT JOIN load ON date_trunc('second', short.first_ts) > load.second
    ASOF LEFT JOIN running AS since
        ON date_trunc('second', short.first_ts) > since.ts
    ASOF LEFT JOIN running AS begun ON short.first_ts > begun.ts
    ASOF LEFT JOIN running AS until ON short.last_ts >= until.ts
    WHERE (SELECT count(*) FROM running) > 0
)

SELECT
    refused.attempt_id,
    refused.ts_start,
    refused.ts_end,
    refused.user_id,
    refused.told_minute,
    coalesce(least(exact.most, loose.most), loose.most) AS most_in_flight,
    -- Files of several stacks may state several: the nearest one, and the greatest, that
    -- even the load of all must reach.
    coalesce(stack_limits.least, settings.number) AS allowed,
    coalesce(stack_limits.greatest, settings.number) AS allowed_anywhere
FROM refused
INNER JOIN loose ON refused.attempt_id = loose.attempt_id
LEFT JOIN exact ON refused.attempt_id = exact.attempt_id
LEFT JOIN settings ON settings.key = 'max_concurrent_requests'
LEFT JOIN stack_limits ON refused.source_id = stack_limits.source_id
