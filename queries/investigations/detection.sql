-- title: Incidents: how long until someone or something reacted, and until it was over
-- topic: failures
-- answers: When did each incident begin, when was it noticed, when was it over, and was the response target kept?
-- column incident_id: incident
-- column layer: layer
-- column cause: cause
-- column scope: what was in trouble
-- column ts_onset: when it began
-- column ts_noticed: first failed probe, restart or act of an operator; NULL: none is logged
-- column noticed_by: kind of that record
-- column detect_s: from the onset to that record, s
-- column ts_recovered: when it was over; NULL: not in these logs
-- column recover_s: from the onset to then, s
-- column target_s: how soon it should be over, s
-- column kept: whether it was; NULL where that cannot be told
-- column attempts: failed attempts
-- column follows_from: incident that it follows from
SELECT
    incidents.incident_id,
    incidents.layer,
    incidents.cause,
    incidents.scope,
    incidents.ts_onset,
    incidents.ts_noticed,
    events.kind AS noticed_by,
    incidents.detect_s,
    incidents.ts_recovered,
    incidents.recover_s,
    incidents.target_s,
    incidents.target_met AS kept,
    incidents.attempts,
    incidents.root_incident_id AS follows_from
FROM incidents
LEFT JOIN events ON incidents.noticed_by = events.event_id
ORDER BY incidents.ts_onset ASC, incidents.incident_id ASC
