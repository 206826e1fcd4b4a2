-- title: Records in which an upstream's own limit refused a failed attempt
-- store: table
SELECT
    own.attempt_id,
    own.event_id,
    own.ts
FROM own
WHERE
    own.kind = 'provider_limit'
    -- The words of a quota in what a channel answered are of the channel's quota.
    OR (
        own.kind IN (
            'quota_exceeded', 'token_rate_limit', 'request_rate_limit', 'rate_limited'
        )
        AND list_contains(own.kinds, 'upstream_error')
        AND coalesce((own.attrs ->> '$.channel'), (own.attrs ->> '$.upstream_status'))
        IS NOT NULL
        -- Unless it is a gateway of one's own that tells of it in its own log.
        AND NOT EXISTS (
            SELECT 1
            FROM own AS deeper
            WHERE
                deeper.attempt_id = own.attempt_id
                AND deeper.event_id // 10000000000 <> own.event_id // 10000000000
                AND deeper.kind IN (
                    'quota_exceeded', 'token_rate_limit', 'request_rate_limit'
                )
                AND NOT list_contains(deeper.kinds, 'upstream_error')
        )
    )
