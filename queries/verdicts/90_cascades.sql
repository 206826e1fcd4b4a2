-- title: Each incident as a chain: first cause, failures, symptoms, retries, what follows
-- store: table
WITH symptoms AS (
    SELECT
        incident_members.incident_id,
        findings.cause,
        count(DISTINCT findings.attempt_id) AS attempts,
        min(incident_members.ts_start) AS ts,
        max(incident_members.ts_error_us) AS ts_error_us,
        arg_min(findings.attempt_id, (incident_members.ts_start, findings.attempt_id))
            AS event_id
    FROM incident_members
    INNER JOIN findings ON incident_members.attempt_id = findings.attempt_id
    WHERE findings.role = 'symptom' AND findings.cause <> incident_members.cause
    GROUP BY incident_members.incident_id, findings.cause
),

retries AS (
    SELECT
        incident_members.incident_id,
        count(*) AS attempts,
        min(incident_members.ts_start) AS ts,
        max(incident_members.ts_error_us) AS ts_error_us,
        arg_min(
            incident_members.attempt_id,
            (incident_members.ts_start, incident_members.attempt_id)
        ) AS event_id
    FROM incident_members
    WHERE incident_members.attempt > 1
    GROUP BY incident_members.incident_id
),

steps AS (
    SELECT
        incidents.incident_id,
        1 AS rank,
        'cause' AS kind,
        incidents.cause,
        incidents.ts_trouble AS ts,
        incidents.ts_error_us,
        CAST(NULL AS BIGINT) AS attempts,
        incidents.named_by AS event_id,
        conditions.because
    FROM incidents
    LEFT JOIN conditions ON incidents.condition_id = conditions.condition_id
    UNION ALL
    SELECT
        incidents.incident_id,
        2 AS rank,
        'failures' AS kind,
        incidents.cause,
        incidents.ts_onset AS ts,
        incidents.ts_error_us,
        incidents.attempts,
        CAST(NULL AS BIGINT) AS event_id,
        'the share of failures rises' AS because
    FROM incidents
    UNION ALL
    SELECT
        symptoms.incident_id,
        3 AS rank,
        'symptom' AS kind,
        symptoms.cause,
        symptoms.ts,
        symptoms.ts_error_us,
        symptoms.attempts,
        symptoms.event_id,
        'what its attempts look like' AS because
    FROM symptoms
    UNION ALL
    SELECT
        incidents.incident_id,
        4 AS rank,
        'noticed' AS kind,
        incidents.cause,
        incidents.ts_noticed AS ts,
        incidents.ts_error_us,
        CAST(NULL AS BIGINT) AS attempts,
        incidents.noticed_by AS event_id,
        'a probe, a restart or an operator' AS because
    FROM incidents
    WHERE incidents.ts_noticed IS NOT NULL
    UNION ALL
    SELECT
        retries.incident_id,
        5 AS rank,
        'retries' AS kind,
        incidents.cause,
        retries.ts,
        retries.ts_error_us,
        retries.attempts,
        retries.event_id,
        'requests that were sent again' AS because
    FROM retries
    INNER JOIN incidents ON retries.incident_id = incidents.incident_id
    UNION ALL
    SELECT
        later.root_incident_id AS incident_id,
        6 AS rank,
        'follows' AS kind,
        later.cause,
        later.ts_onset AS ts,
        later.ts_error_us,
        later.attempts,
        CAST(NULL AS BIGINT) AS event_id,
        coalesce(later.scope || ': ', '') || later.follows AS because
    FROM incidents AS later
    WHERE later.root_incident_id IS NOT NULL
    UNION ALL
    SELECT
        incidents.incident_id,
        7 AS rank,
        'over' AS kind,
        incidents.cause,
        incidents.ts_recovered AS ts,
        incidents.ts_error_us,
        CAST(NULL AS BIGINT) AS attempts,
        CAST(NULL AS BIGINT) AS event_id,
        'served again' AS because
    FROM incidents
    WHERE incidents.ts_recovered IS NOT NULL
),

ordered AS (
    SELECT
        steps.*,
        row_number() OVER chain AS step,
        lag(steps.ts) OVER chain AS ts_before,
        lag(steps.ts_error_us) OVER chain AS error_before_us
    FROM steps
    WINDOW
        chain AS (
            PARTITION BY steps.incident_id
            ORDER BY steps.ts, steps.rank, steps.cause, steps.because
        )
)

SELECT
    ordered.incident_id,
    ordered.step,
    ordered.kind,
    ordered.cause,
    ordered.ts,
    ordered.ts_error_us,
    -- Whether it came after the step before wherever the clocks may be.
    ordered.ts_before + micros(ordered.error_before_us + ordered.ts_error_us)
    < ordered.ts AS after_certainly,
    ordered.attempts,
    ordered.event_id,
    ordered.because
FROM ordered
