-- title: Incidents: failed attempts grouped by cause and time
-- store: table
SELECT
    incident_members.incident_id,
    any_value(incident_members.layer) AS layer,
    any_value(incident_members.cause) AS cause,
    nullif(
        array_to_string(
            (
                list(DISTINCT incident_members.scope ORDER BY incident_members.scope)
                FILTER (WHERE incident_members.scope IS NOT NULL)
            )[1:5],
            ', '
        ),
        ''
    ) AS scope,
    min(incident_members.ts_start) AS ts_start,
    max(incident_members.ts_end) AS ts_end,
    count(*) AS attempts,
    count(DISTINCT incident_members.user_id) AS users,
    list_sort(
        list(DISTINCT incident_members.model)
        FILTER (WHERE incident_members.model IS NOT NULL)
    ) AS models,
    min(incident_members.condition_id) AS condition_id
FROM incident_members
GROUP BY incident_members.incident_id
