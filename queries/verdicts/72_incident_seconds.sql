-- title: How many attempts ended in each second of an incident, and how many by it
-- store: table
WITH spans AS (
    SELECT
        incident_members.incident_id,
        date_trunc('second', min(incident_members.ts_end)) AS first_second,
        date_trunc('second', max(incident_members.ts_end)) AS last_second,
        -- Where it is all about one engine, what others serve tells nothing of it.
        CASE
            WHEN
                count(DISTINCT incident_members.engine) = 1
                AND count(*) = count(incident_members.engine)
                AND (
                    min(incident_members.layer) = 'model'
                    OR min(incident_members.scope) = min(incident_members.engine)
                )
                AND min(incident_members.engine) IN (SELECT seconds.engine FROM seconds)
                THEN min(incident_members.engine)
        END AS engine
    FROM incident_members
    GROUP BY incident_members.incident_id
),

whole AS (
    SELECT
        seconds.second,
        CAST(NULL AS VARCHAR) AS engine,
        sum(seconds.attempts)::BIGINT AS attempts,
        sum(seconds.good)::BIGINT AS good
    FROM seconds
    GROUP BY seconds.second
    UNION ALL
    SELECT
        seconds.second,
        seconds.engine,
        seconds.attempts,
        seconds.good
    FROM seconds
    WHERE seconds.engine IS NOT NULL
),

-- By the minute, so that short incidents of a long day meet few of its seconds.
minutes AS (
    SELECT
        spans.*,
        unnest(
            generate_series(
                date_trunc('minute', spans.first_second),
                spans.last_second + to_seconds(threshold('incident_pause_s')),
                INTERVAL 1 MINUTE
            )
        ) AS minute
    FROM spans
),

hits AS (
    SELECT
        incident_members.incident_id,
        date_trunc('second', incident_members.ts_end) AS second,
        count(*) AS failed
    FROM incident_members
    GROUP BY
        incident_members.incident_id,
        date_trunc('second', incident_members.ts_end)
)

SELECT
    minutes.incident_id,
    minutes.engine IS NOT NULL AS by_engine,
    whole.second,
    whole.attempts,
    whole.good,
    coalesce(hits.failed, 0) AS failed,
    whole.second > minutes.last_second AS later
FROM minutes
INNER JOIN whole
    ON
        minutes.engine IS NOT DISTINCT FROM whole.engine
        AND minutes.minute = date_trunc('minute', whole.second)
        AND whole.second BETWEEN minutes.first_second
        AND minutes.last_second + to_seconds(threshold('incident_pause_s'))
LEFT JOIN hits
    ON minutes.incident_id = hits.incident_id AND whole.second = hits.second
