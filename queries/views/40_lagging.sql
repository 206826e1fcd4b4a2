-- title: Quota refusals while reservations wait for reclamation and none is in use
-- store: table
WITH grace AS (
    SELECT
        settings.number AS seconds,
        settings.event_id IS NOT NULL AS stated
    FROM settings
    WHERE settings.key = 'quota_grace_period_s'
),

booked AS (
    SELECT
        events.request_id,
        min(events.user_id) AS user_id,
        min(events.ts) FILTER (WHERE events.kind = 'quota_reserve') AS reserved_at,
        max(events.quota_amount) FILTER (WHERE events.kind = 'quota_reserve')
            AS amount,
        min(events.ts) FILTER (
            WHERE events.kind IN ('quota_charge', 'quota_release')
        ) AS settled_at,
        min(events.ts) FILTER (WHERE events.kind = 'quota_charge') AS charged_at,
        -- What is released once the charge is booked, was reserved until then.
        min(events.ts) FILTER (
            WHERE events.kind = 'quota_reclaim'
        ) AS taken_back_at,
        max(events.ts) FILTER (
            WHERE events.kind = 'quota_release'
        ) AS released_at,
        coalesce(
            taken_back_at,
            CASE WHEN released_at > charged_at THEN released_at END
        ) AS reclaimed_at,
        min(events.event_id) AS event_id
    FROM events
    WHERE
        events.kind IN (
            'quota_reserve', 'quota_charge', 'quota_release', 'quota_reclaim'
        )
        AND events.request_id IS NOT NULL
    GROUP BY events.request_id
    HAVING reserved_at IS NOT NULL
),

-- What is taken back without ever being settled was in use as long as its request.
abandoned AS (
    SELECT
        booked.request_id,
        max(attempts.ts_end + to_microseconds(attempts.ts_error_us)) AS over_at
    FROM booked
    INNER JOIN attempts ON booked.request_id = attempts.request_id
    WHERE booked.settled_at IS NULL AND booked.taken_back_at IS NOT NULL
    GROUP BY booked.request_id
),

holds AS (
    SELECT
        booked.* REPLACE (coalesce(booked.settled_at, abandoned.over_at) AS settled_at),
        abandoned.over_at IS NOT NULL AS by_access
    FROM booked
    LEFT JOIN abandoned ON booked.request_id = abandoned.request_id
),

-- Refusals in the ledger's own time: no other clock is needed.
denials AS (
    SELECT
        marks.event_id,
        marks.request_id,
        marks.user_id,
        marks.ts,
        marks.ts_error_us,
        marks.clock_status
    FROM marks
    ANTI JOIN rebooked ON marks.event_id = rebooked.event_id
    WHERE
        marks.kind = 'quota_deny'
        AND marks.user_id IS NOT NULL
        AND marks.request_id IS NOT NULL
),

-- A ledger that never gives back has no lag that one could wait for.
returns AS (
    SELECT count(*) AS seen
    FROM holds
    WHERE holds.reclaimed_at IS NOT NULL
),

waiting AS (
    SELECT
        denials.request_id,
        denials.user_id,
        min(denials.event_id) AS event_id,
        min(denials.ts) AS ts,
        max(denials.ts_error_us) AS ts_error_us,
        min(denials.clock_status) AS clock_status,
        sum(holds.amount) AS amount,
        list(holds.event_id ORDER BY holds.event_id) AS evidence
    FROM denials
    INNER JOIN holds
        ON
            denials.user_id = holds.user_id
            AND holds.settled_at <= denials.ts
            AND coalesce(
                holds.reclaimed_at,
                holds.settled_at
                + to_seconds((SELECT grace.seconds FROM grace))
            ) > denials.ts
            -- Another clock's word, which an untied one cannot be compared with.
            AND NOT (holds.by_access AND denials.clock_status = 'untied')
            -- What waits longer than it should is no longer waiting: it is lost.
            AND NOT coalesce(
                (SELECT grace.stated FROM grace)
                AND holds.settled_at
                + to_seconds((SELECT grace.seconds FROM grace) + 1) < denials.ts,
                FALSE
            )
    WHERE (SELECT returns.seen FROM returns) > 0
    GROUP BY denials.request_id, denials.user_id
)

SELECT
    waiting.request_id,
    waiting.user_id,
    waiting.event_id,
    waiting.ts,
    waiting.ts_error_us,
    waiting.clock_status,
    waiting.amount,
    waiting.evidence
FROM waiting
WHERE
    NOT EXISTS (
        SELECT 1
        FROM holds
        WHERE
            holds.user_id = waiting.user_id
            AND holds.reserved_at <= waiting.ts
            AND (
                holds.settled_at IS NULL
                OR holds.settled_at > waiting.ts
                OR (holds.by_access AND waiting.clock_status = 'untied')
            )
    )
