-- title: Which requests of a gateway are failed ones of the edge, whatever they are called
-- store: table
WITH stories AS (
    SELECT
        marks.request_id,
        string_agg(DISTINCT marks.kind, ' ' ORDER BY marks.kind) AS story
    FROM marks
    WHERE
        (SELECT count(*) FROM relays) > 0
        AND marks.request_id IN (SELECT relays.request_id FROM relays)
    GROUP BY marks.request_id
),

-- Where several fit, all have to tell the same.
agreed AS (
    SELECT
        relays.first_event_id,
        count(DISTINCT coalesce(stories.story, '')) = 1 AS same
    FROM relays
    LEFT JOIN stories ON relays.request_id = stories.request_id
    GROUP BY relays.first_event_id
)

SELECT
    relays.request_id,
    failures.attempt_id,
    relays.first_request_id
FROM relays
INNER JOIN failures ON relays.first_event_id = failures.attempt_id
INNER JOIN agreed ON relays.first_event_id = agreed.first_event_id
WHERE relays.nearest AND (relays.alone OR agreed.same)
