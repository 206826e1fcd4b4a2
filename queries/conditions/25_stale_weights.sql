-- title: Weights were replaced and not loaded, until the next load is ready
-- layer: model
-- cause: model.stale_weights
-- needs: marks
-- known gaps: which of several engines serves these weights
SELECT
    'model.stale_weights' AS cause,
    'root' AS role,
    'weights' AS scope_kind,
    coalesce((marks.attrs ->> '$.path'), marks.model, '?') AS scope,
    marks.ts AS ts_start,
    (
        SELECT min(loads.ts)
        FROM loads
        WHERE
            loads.kind = 'engine_ready'
            AND loads.clock_status <> 'untied'
            AND loads.ts > marks.ts
    ) AS ts_end,
    marks.ts_error_us,
    marks.clock_status,
    'the weights were replaced by revision '
    || coalesce((marks.attrs ->> '$.revision'), '?') || ' and not loaded' AS because,
    [marks.event_id] AS evidence
FROM marks
WHERE
    marks.kind = 'weights_replaced'
    AND (marks.attrs ->> '$.reload') = 'false'
