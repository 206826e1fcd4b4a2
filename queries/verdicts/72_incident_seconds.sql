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
                AND min(incident_members.layer) = 'model'
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
    spans.incident_id,
    spans.engine IS NOT NULL AS by_engine,
    whole.second,
    whole.attempts,
    whole.good,
    coalesce(hits.failed, 0) AS failed,
    whole.second > spans.last_second AS later
FROM spans
INNER JOIN whole
    ON
        spans.engine IS NOT DISTINCT FROM whole.engine
        AND whole.second BETWEEN spans.first_second
        AND spans.last_second + to_seconds(threshold('incident_pause_s'))
LEFT JOIN hits
    ON spans.incident_id = hits.incident_id AND whole.second = hits.second
