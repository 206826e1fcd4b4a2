-- title: Records in which an upstream's own limit refused a failed attempt
-- store: table
WITH told AS (
    SELECT
        own.attempt_id,
        own.event_id,
        own.ts,
        own.kind = 'provider_limit' AS plain
    FROM own
    WHERE
        own.kind = 'provider_limit'
        -- The words of a quota in what a channel answered are of the channel's quota.
        OR (
            own.kind IN (
                'quota_exceeded', 'token_rate_limit', 'request_rate_limit',
                'rate_limited'
            )
            AND list_contains(own.kinds, 'upstream_error')
            AND coalesce(
                (own.attrs ->> '$.channel'), (own.attrs ->> '$.upstream_status')
            )
            IS NOT NULL
        )
),

-- Unless it is a gateway of one's own that tells of it in its own log.
deeper AS (
    SELECT DISTINCT told.event_id
    FROM told
    INNER JOIN own ON told.attempt_id = own.attempt_id
    WHERE
        NOT told.plain
        AND told.event_id // 10000000000 <> own.event_id // 10000000000
        AND own.kind IN ('quota_exceeded', 'token_rate_limit', 'request_rate_limit')
        AND NOT list_contains(own.kinds, 'upstream_error')
)

SELECT
    told.attempt_id,
    told.event_id,
    told.ts
FROM told
ANTI JOIN deeper ON told.event_id = deeper.event_id
