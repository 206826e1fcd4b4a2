-- title: Entries of the quota ledger, with what each pool has spent and holds by then
WITH entries AS (
    SELECT
        events.event_id,
        events.ts,
        events.ts_error_us,
        substr(events.kind, 7) AS entry,
        events.request_id,
        events.user_id,
        events.project_id,
        events.tenant_id,
        events.quota_amount AS amount,
        events.status,
        events.prompt_tokens,
        events.completion_tokens,
        try_cast((events.attrs ->> '$.seconds') AS DOUBLE)
        * coalesce(
            try_cast((events.attrs ->> '$.gpus') AS DOUBLE),
            try_cast((events.attrs ->> '$.num_gpus') AS DOUBLE),
            1
        ) AS gpu_seconds
    FROM events
    -- What stands there twice was booked once.
    ANTI JOIN rebooked ON events.event_id = rebooked.event_id
    WHERE
        -- As a range, since that skips row groups of other records.
        events.kind BETWEEN 'quota_charge' AND 'quota_reserve'
        AND events.kind IN (
            'quota_reserve', 'quota_charge', 'quota_release', 'quota_reclaim',
            'quota_deny'
        )
),

-- The first charge, release or reclaim after a reservation ends all that is reserved for
-- its request, whatever its own amount: what comes after it gives back what is over.
ends AS (
    SELECT
        entries.*,
        entries.request_id IS NOT NULL
        AND entries.entry IN ('charge', 'release', 'reclaim')
        AND lag(entries.entry) OVER (
            PARTITION BY entries.request_id, entries.entry = 'deny'
            ORDER BY entries.ts, entries.event_id
        ) = 'reserve' AS is_end
    FROM entries
),

holds AS (
    SELECT
        ends.*,
        count(*) FILTER (WHERE ends.is_end) OVER (
            PARTITION BY ends.request_id
            ORDER BY ends.ts, ends.event_id
            ROWS BETWEEN UNBOUNDED PRECEDING AND 1 PRECEDING
        ) AS hold
    FROM ends
),

moves AS (
    SELECT
        holds.*,
        CASE holds.entry WHEN 'charge' THEN holds.amount ELSE 0 END AS spent,
        CASE
            WHEN holds.entry = 'reserve' THEN holds.amount
            WHEN holds.is_end
                THEN
                    -sum(holds.amount) FILTER (WHERE holds.entry = 'reserve') OVER (
                        PARTITION BY holds.request_id, holds.hold
                    )
            ELSE 0
        END AS held
    FROM holds
)

SELECT
    moves.event_id,
    moves.ts,
    moves.ts_error_us,
    moves.entry,
    moves.request_id,
    moves.user_id,
    moves.project_id,
    moves.tenant_id,
    moves.amount,
    moves.status,
    moves.prompt_tokens,
    moves.completion_tokens,
    moves.gpu_seconds,
    CASE WHEN moves.user_id IS NOT NULL THEN sum(moves.spent) OVER users END
        AS user_spent,
    CASE WHEN moves.user_id IS NOT NULL THEN sum(moves.held) OVER users END
        AS user_held,
    CASE WHEN moves.project_id IS NOT NULL THEN sum(moves.spent) OVER projects END
        AS project_spent,
    CASE WHEN moves.tenant_id IS NOT NULL THEN sum(moves.spent) OVER tenants END
        AS tenant_spent
FROM moves
WINDOW
    users AS (
        PARTITION BY moves.user_id
        ORDER BY moves.ts, moves.event_id
        ROWS UNBOUNDED PRECEDING
    ),
    projects AS (
        PARTITION BY moves.project_id
        ORDER BY moves.ts, moves.event_id
        ROWS UNBOUNDED PRECEDING
    ),
    tenants AS (
        PARTITION BY moves.tenant_id
        ORDER BY moves.ts, moves.event_id
        ROWS UNBOUNDED PRECEDING
    )
