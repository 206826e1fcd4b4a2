-- title: Records of the ledger that repeat another, as when what ships it sends some again
-- store: case
-- First by little, since the texts of all entries take long to read.
WITH booked AS (
    SELECT
        events_raw.event_id,
        events_raw.source_id,
        events_raw.ts_raw,
        hash(
            events_raw.kind, events_raw.request_id, events_raw.ts_raw,
            events_raw.quota_amount
        ) AS look
    FROM events_raw
    WHERE
        -- As a range, since that skips row groups of other records.
        events_raw.kind BETWEEN 'quota_charge' AND 'quota_reserve'
        AND events_raw.kind IN (
            'quota_reserve', 'quota_charge', 'quota_release', 'quota_reclaim',
            'quota_deny'
        )
),

looks AS (
    SELECT booked.look
    FROM booked
    GROUP BY booked.look
    HAVING count(*) > 1
),

bookings AS (
    SELECT
        events_raw.event_id,
        events_raw.source_id,
        events_raw.ts_raw,
        events_raw.ts_precision_us,
        hash(
            events_raw.kind, events_raw.request_id, events_raw.ts_raw,
            events_raw.quota_amount, events_raw.user_id, events_raw.project_id,
            events_raw.tenant_id, events_raw.prompt_tokens,
            events_raw.completion_tokens, events_raw.status, events_raw.message,
            events_raw.attrs
        ) AS look
    FROM booked
    SEMI JOIN looks ON booked.look = looks.look
    INNER JOIN events_raw ON booked.event_id = events_raw.event_id
),

alike AS (
    SELECT
        bookings.look,
        min(bookings.event_id) AS first_event_id
    FROM bookings
    GROUP BY bookings.look
    HAVING count(*) > 1
),

again AS (
    SELECT
        bookings.event_id,
        bookings.source_id,
        bookings.ts_raw,
        bookings.ts_precision_us,
        alike.first_event_id
    FROM bookings
    INNER JOIN alike ON bookings.look = alike.look
    WHERE bookings.event_id <> alike.first_event_id
),

-- An entry that has a number is the same one wherever it stands.
numbered AS (
    SELECT
        again.event_id,
        coalesce(
            (events_raw.attrs ->> '$.seq'), (events_raw.attrs ->> '$.entry_id'),
            (events_raw.attrs ->> '$.id')
        ) IS NOT NULL AS has_number
    FROM again
    INNER JOIN events_raw ON again.event_id = events_raw.event_id
),

-- Of others only those that stand behind later ones: somebody may be charged twice in
-- one instant.
reached AS (
    SELECT
        booked.event_id,
        max(booked.ts_raw) OVER (
            PARTITION BY booked.source_id
            ORDER BY booked.event_id
            ROWS UNBOUNDED PRECEDING
        ) AS ts_raw
    FROM booked
    WHERE (SELECT bool_and(numbered.has_number) FROM numbered) IS FALSE
)

SELECT
    again.event_id,
    again.first_event_id
FROM again
INNER JOIN numbered ON again.event_id = numbered.event_id
LEFT JOIN reached ON again.event_id = reached.event_id
LEFT JOIN reached AS before ON again.first_event_id = before.event_id
WHERE
    numbered.has_number
    OR (
        again.source_id = again.first_event_id // 10000000000
        AND reached.ts_raw > again.ts_raw + micros(again.ts_precision_us)
        AND reached.ts_raw > before.ts_raw
    )
