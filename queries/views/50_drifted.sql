-- title: Failed attempts of the kind that a changed setting brings about
-- store: table
WITH changes AS (
    SELECT changed_settings.*
    FROM changed_settings
    WHERE changed_settings.worse AND changed_settings.clock_status <> 'untied'
),

-- What the own records of an attempt say it met.
met AS (
    SELECT
        own.attempt_id,
        own.event_id,
        unnest(own.kinds) AS kind,
        try_cast((own.attrs ->> '$.tokens') AS DOUBLE) AS tokens
    FROM own
    WHERE (SELECT count(*) FROM changes) > 0
),

kinds_of AS (
    SELECT
        pairs.about,
        pairs.kind
    FROM (
        VALUES
        ('concurrency', 'concurrency_limit'),
        ('context', 'context_overflow'),
        ('queue', 'queue_full'),
        ('burst', 'burst_limit'),
        ('requests', 'request_rate_limit'),
        ('tokens', 'token_rate_limit'),
        ('dtype', 'dtype_mismatch'),
        ('upstream', 'connect_refused'),
        ('upstream', 'dns_failure')
    ) AS pairs (about, kind)
),

found AS (
    SELECT
        met.attempt_id,
        changes.event_id,
        changes.setting,
        CAST(NULL AS BIGINT) AS in_flight
    FROM met
    INNER JOIN kinds_of ON met.kind = kinds_of.kind
    INNER JOIN changes ON kinds_of.about = changes.about
    WHERE
        CASE changes.about
            -- What would have been too long before is another matter.
            WHEN 'context'
                THEN coalesce(met.tokens <= changes.number_before, TRUE)
            WHEN 'upstream' THEN FALSE
            ELSE TRUE
        END
    UNION ALL
    SELECT
        met.attempt_id,
        changes.event_id,
        changes.setting,
        CAST(NULL AS BIGINT) AS in_flight
    FROM met
    INNER JOIN kinds_of ON met.kind = kinds_of.kind
    INNER JOIN changes ON kinds_of.about = changes.about
    INNER JOIN events ON met.event_id = events.event_id
    WHERE
        changes.about = 'upstream'
        AND contains(events.message, changes.after)
    UNION ALL
    SELECT
        refusals.attempt_id,
        changes.event_id,
        changes.setting,
        refusals.most_in_flight AS in_flight
    FROM refusals
    INNER JOIN changes ON changes.about = 'concurrency'
    UNION ALL
    SELECT
        failures.attempt_id,
        changes.event_id,
        changes.setting,
        CAST(NULL AS BIGINT) AS in_flight
    FROM failures
    INNER JOIN changes
        ON
            changes.about = 'timeout'
            AND abs(failures.duration_ms / 1000 - changes.number_after)
            <= 0.5 + 0.05 * changes.number_after
    WHERE failures.status IN (408, 504)
    UNION ALL
    SELECT
        edge_matches.attempt_id,
        changes.event_id,
        changes.setting,
        CAST(NULL AS BIGINT) AS in_flight
    FROM edge_matches
    INNER JOIN changes
        ON
            changes.about = 'upstream'
            AND contains(edge_matches.upstream_addr, changes.after)
    WHERE edge_matches.settled AND edge_matches.kind <> 'client_closed'
)

SELECT
    found.attempt_id,
    found.event_id,
    found.setting,
    -- A lower limit that was not reached refused nobody.
    coalesce(max(found.in_flight) >= any_value(changes.number_after), TRUE) AS reached
FROM found
INNER JOIN failures ON found.attempt_id = failures.attempt_id
INNER JOIN changes
    ON
        found.event_id = changes.event_id
        AND found.setting = changes.setting
        AND may_overlap(
            failures.ts_start, failures.ts_end, failures.ts_error_us,
            changes.ts, changes.next_ts, changes.ts_error_us
        )
GROUP BY found.attempt_id, found.event_id, found.setting
