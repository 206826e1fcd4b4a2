-- title: The number of each attempt of a repeated id, from 1 in start order
-- store: table
SELECT
    repeats.event_id,
    row_number() OVER (
        PARTITION BY repeats.request_id
        ORDER BY repeats.ts_start, repeats.event_id
    ) AS attempt
FROM repeats
ANTI JOIN twins ON repeats.event_id = twins.event_id
