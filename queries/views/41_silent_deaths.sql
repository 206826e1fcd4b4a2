-- title: Deaths of engines that their own process says nothing of
-- store: table
SELECT
    deaths.event_id,
    deaths.ts
FROM marks AS deaths
WHERE
    deaths.layer = 'model'
    AND deaths.request_id IS NULL
    AND list_has_any(deaths.kinds, ['engine_dead', 'worker_died'])
    AND NOT EXISTS (
        SELECT 1
        FROM marks
        WHERE
            marks.layer = 'model'
            AND list_contains(marks.kinds, 'engine_fatal')
            AND marks.clock_id = deaths.clock_id
            AND abs(date_diff('second', marks.ts, deaths.ts)) <= 10
    )
    -- Whoever was told to stop has no more to say.
    AND NOT EXISTS (
        SELECT 1
        FROM marks
        WHERE
            marks.kind = 'operator_stop'
            AND marks.clock_status <> 'untied'
            AND date_diff('second', marks.ts, deaths.ts) BETWEEN -3 AND 30
    )
