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

-- A charge or release ends the request's last reservation, whatever its own amount.
moves AS (
    SELECT
        entries.*,
        CASE entries.entry WHEN 'charge' THEN entries.amount ELSE 0 END AS spent,
        CASE entries.entry
            WHEN 'reserve' THEN entries.amount
            WHEN 'charge' THEN -reserved.amount
            WHEN 'release' THEN -reserved.amount
            ELSE 0
        END AS held
    FROM entries
    LEFT JOIN (
        SELECT
            entries.request_id,
            avg(entries.amount) AS amount
        FROM entries
        WHERE entries.entry = 'reserve' AND entries.request_id IS NOT NULL
        GROUP BY entries.request_id
    ) AS reserved ON entries.request_id = reserved.request_id
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
