-- title: How well the request ids of each source join it to the other logs
WITH ids AS (
    SELECT
        events.source_id,
        sources.log_set,
        events.request_id,
        count(*) AS records,
        count(*) FILTER (WHERE events.kind = 'access') AS accesses,
        -- Two logs may spell a user otherwise, one log does not.
        coalesce(min(events.user_id) <> max(events.user_id), FALSE) AS is_shared
    FROM events
    INNER JOIN sources ON events.source_id = sources.source_id
    WHERE events.request_id IS NOT NULL
    GROUP BY events.source_id, sources.log_set, events.request_id
),

-- Rotated files are one log.
everywhere AS (
    SELECT
        ids.request_id,
        count(DISTINCT ids.log_set) AS logs,
        bool_or(ids.is_shared) AS is_shared
    FROM ids
    GROUP BY ids.request_id
),

tried AS (
    SELECT
        attempts.request_id,
        count(*) AS attempts,
        count(DISTINCT attempts.user_id) AS users
    FROM attempts
    WHERE attempts.request_id IS NOT NULL
    GROUP BY attempts.request_id
),

totals AS (
    SELECT sum(tried.attempts)::BIGINT AS attempts
    FROM tried
),

of_source AS (
    SELECT
        ids.source_id,
        sum(ids.records)::BIGINT AS with_id,
        count(*) AS requests,
        count(*) FILTER (WHERE everywhere.logs > 1) AS joined,
        count(*) FILTER (WHERE everywhere.logs = 1) AS alone,
        count(*) FILTER (WHERE ids.accesses > 1) AS repeated,
        count(*) FILTER (WHERE tried.users > 1 OR everywhere.is_shared) AS colliding,
        coalesce(sum(tried.attempts), 0)::BIGINT AS attempts
    FROM ids
    INNER JOIN everywhere ON ids.request_id = everywhere.request_id
    LEFT JOIN tried ON ids.request_id = tried.request_id
    GROUP BY ids.source_id
)

SELECT
    sources.source_id,
    sources.path,
    sources.layer,
    sources.component,
    sources.events,
    coalesce(of_source.with_id, 0) AS with_id,
    coalesce(of_source.requests, 0) AS requests,
    coalesce(of_source.joined, 0) AS joined,
    coalesce(of_source.alone, 0) AS alone,
    coalesce(of_source.repeated, 0) AS repeated,
    coalesce(of_source.colliding, 0) AS colliding,
    coalesce(of_source.attempts, 0) AS attempts,
    coalesce(of_source.attempts, 0) / nullif(totals.attempts, 0) AS attempts_share
FROM sources
CROSS JOIN totals
LEFT JOIN of_source ON sources.source_id = of_source.source_id
