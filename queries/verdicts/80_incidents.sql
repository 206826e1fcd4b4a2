-- title: Incidents: failed attempts grouped by cause and time
-- store: table
WITH hits AS (
    SELECT
        incident_members.incident_id,
        any_value(incident_members.layer) AS layer,
        any_value(incident_members.cause) AS cause,
        nullif(
            array_to_string(
                (
                    list(
                        DISTINCT incident_members.scope
                        ORDER BY incident_members.scope
                    )
                    FILTER (WHERE incident_members.scope IS NOT NULL)
                )[1:5],
                ', '
            ),
            ''
        ) AS scope,
        min(incident_members.ts_start) AS ts_start,
        max(incident_members.ts_end) AS ts_end,
        count(*) AS attempts,
        count(DISTINCT incident_members.request_id) AS requests,
        count(*) FILTER (WHERE incident_members.attempt > 1) AS retries,
        count(DISTINCT incident_members.user_id) AS users,
        list_sort(
            list(DISTINCT incident_members.user_id)
            FILTER (WHERE incident_members.user_id IS NOT NULL)
        )[1:10] AS some_users,
        list_sort(
            list(DISTINCT incident_members.model)
            FILTER (WHERE incident_members.model IS NOT NULL)
        ) AS models,
        min(incident_members.condition_id) AS condition_id,
        max(incident_members.ts_error_us) AS ts_error_us
    FROM incident_members
    GROUP BY incident_members.incident_id
),

-- Of a few of each: all of them may be many.
sampled AS (
    SELECT
        incident_members.incident_id,
        incident_members.attempt_id
    FROM incident_members
    QUALIFY
        row_number() OVER (
            PARTITION BY incident_members.incident_id
            ORDER BY incident_members.attempt_id
        ) <= 50
),

asked AS (
    SELECT
        sampled.incident_id,
        regexp_extract(events.message, '^[A-Z]+ (/[^ ?]*)', 1) AS route
    FROM sampled
    INNER JOIN events ON sampled.attempt_id = events.event_id
    WHERE events.kind IN ('access', 'engine_access', 'gateway_access')
),

ways AS (
    SELECT
        asked.incident_id,
        list_sort(list(DISTINCT asked.route))[1:10] AS routes
    FROM asked
    WHERE asked.route <> ''
    GROUP BY asked.incident_id
),

troubles AS (
    SELECT
        behind.incident_id,
        list_sort(list(DISTINCT behind.condition_id)) AS condition_ids,
        min(conditions.ts_start) AS ts_start,
        max(conditions.ts_end) AS ts_end,
        bool_or(conditions.ts_end IS NULL) AS is_open,
        max(conditions.ts_error_us) AS ts_error_us
    FROM (
        SELECT DISTINCT
            incident_members.incident_id,
            incident_members.condition_id
        FROM incident_members
        WHERE incident_members.condition_id IS NOT NULL
    ) AS behind
    INNER JOIN conditions ON behind.condition_id = conditions.condition_id
    GROUP BY behind.incident_id
),

timed AS (
    SELECT
        hits.*,
        -- It began within the first one that failed, at the trouble if that is known.
        least(
            greatest(incident_spans.ts_onset, troubles.ts_start),
            CASE
                WHEN troubles.ts_start IS NULL THEN incident_spans.ts_onset
                ELSE incident_spans.ts_onset_end
            END
        ) AS ts_onset,
        incident_spans.ts_over,
        incident_spans.traffic,
        incident_spans.failed,
        coalesce(troubles.condition_ids, []) AS condition_ids,
        named.ts AS ts_named,
        named.event_id AS named_by,
        noticed.ts AS ts_noticed,
        noticed.event_id AS noticed_by,
        troubles.ts_start AS ts_trouble,
        greatest(hits.ts_error_us, troubles.ts_error_us) AS error_us,
        CASE
            WHEN NOT troubles.is_open
                THEN greatest(troubles.ts_end, incident_spans.ts_over)
            -- What others are served tells nothing of a pool or a plugin that is down.
            WHEN troubles.is_open AND NOT incident_spans.by_engine THEN NULL
            WHEN incident_spans.served_after THEN incident_spans.ts_over
        END AS ts_recovered,
        incident_roots.root_incident_id,
        incident_roots.because AS follows,
        incident_roots.certain AS follows_certainly,
        -- A few requests that fail among many that do not are no outage.
        CASE
            WHEN
                troubles.incident_id IS NOT NULL
                OR (
                    incident_spans.failed >= 5
                    AND incident_spans.failed >= 0.1 * incident_spans.traffic
                )
                THEN target(hits.layer)
        END AS target_s
    FROM hits
    INNER JOIN incident_spans ON hits.incident_id = incident_spans.incident_id
    LEFT JOIN troubles ON hits.incident_id = troubles.incident_id
    LEFT JOIN incident_records AS named
        ON hits.incident_id = named.incident_id AND named.role = 'named'
    LEFT JOIN incident_records AS noticed
        ON hits.incident_id = noticed.incident_id AND noticed.role = 'noticed'
    LEFT JOIN incident_roots ON hits.incident_id = incident_roots.incident_id
)

SELECT
    timed.incident_id,
    timed.layer,
    timed.cause,
    timed.scope,
    timed.ts_start,
    timed.ts_end,
    timed.attempts,
    timed.users,
    timed.models,
    timed.condition_id,
    timed.condition_ids,
    timed.requests,
    timed.retries,
    timed.some_users,
    coalesce(ways.routes, []) AS routes,
    coalesce(least(timed.ts_trouble, timed.ts_onset), timed.ts_onset) AS ts_trouble,
    timed.ts_onset,
    timed.ts_over,
    timed.error_us AS ts_error_us,
    timed.traffic,
    round(timed.failed / nullif(timed.traffic, 0), 4) AS share,
    timed.ts_named,
    timed.named_by,
    timed.ts_noticed,
    timed.noticed_by,
    CASE
        WHEN timed.ts_named IS NOT NULL
            THEN
                greatest(date_diff('microsecond', timed.ts_onset, timed.ts_named), 0)
                / 1e6
    END AS named_s,
    CASE
        WHEN timed.ts_noticed IS NOT NULL
            THEN
                greatest(date_diff('microsecond', timed.ts_onset, timed.ts_noticed), 0)
                / 1e6
    END AS detect_s,
    timed.ts_recovered,
    date_diff('microsecond', timed.ts_onset, timed.ts_recovered) / 1e6 AS recover_s,
    timed.target_s,
    -- Without an end: missed, where it still failed requests after that time.
    CASE
        WHEN timed.ts_recovered IS NOT NULL
            THEN
                date_diff('microsecond', timed.ts_onset, timed.ts_recovered) / 1e6
                <= timed.target_s
        WHEN
            date_diff('microsecond', timed.ts_onset, timed.ts_over) / 1e6
            > timed.target_s
            THEN FALSE
    END AS target_met,
    timed.root_incident_id,
    timed.follows,
    timed.follows_certainly
FROM timed
LEFT JOIN ways ON timed.incident_id = ways.incident_id
