-- title: One verdict for every failed attempt, with the incident that it is part of
-- store: table
SELECT
    judged.attempt_id,
    judged.request_id,
    judged.attempt,
    judged.layer,
    judged.cause,
    judged.strength,
    judged.rule,
    judged.because,
    judged.evidence,
    judged.contributing,
    judged.cleared,
    judged.missing,
    judged.clock_sensitive,
    judged.condition_id,
    incident_members.incident_id
FROM judged
LEFT JOIN incident_members ON judged.attempt_id = incident_members.attempt_id
