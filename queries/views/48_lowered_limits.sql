-- title: Reloads that lowered the limit of requests in flight
-- store: table
WITH changes AS (
    SELECT
        marks.event_id,
        marks.ts,
        marks.ts_error_us,
        marks.clock_status,
        (marks.attrs ->> '$.setting') AS setting,
        try_cast((marks.attrs ->> '$.before') AS DOUBLE) AS before,
        try_cast((marks.attrs ->> '$.after') AS DOUBLE) AS after,
        lead(marks.ts) OVER (
            PARTITION BY marks.log_dir, (marks.attrs ->> '$.setting')
            ORDER BY marks.ts, marks.event_id
        ) AS next_ts
    FROM marks
    WHERE
        marks.kind = 'config_reload'
        AND contains((marks.attrs ->> '$.setting'), 'max_concurrent_requests')
)

SELECT
    changes.event_id,
    changes.ts,
    changes.next_ts,
    changes.ts_error_us,
    changes.clock_status,
    changes.setting,
    changes.before,
    changes.after
FROM changes
WHERE changes.after < changes.before
