-- title: The configuration asks for another data type than the weights have
-- layer: harness
-- cause: harness.dtype_mismatch
-- needs: marks
-- known gaps: a mismatch that the load does not record
SELECT
    'harness.dtype_mismatch' AS cause,
    'root' AS role,
    'setting' AS scope_kind,
    coalesce(marks.engine, '?') AS scope,
    marks.ts AS ts_start,
    CAST(NULL AS TIMESTAMP) AS ts_end,
    marks.ts_error_us,
    marks.clock_status,
    'the weights are ' || coalesce((marks.attrs ->> '$.weights'), '?')
    || ', the configuration asks for '
    || coalesce((marks.attrs ->> '$.torch_dtype'), '?') AS because,
    [marks.event_id] AS evidence
FROM marks
WHERE
    marks.kind = 'dtype_mismatch'
    AND marks.layer = 'harness'
    AND marks.request_id IS NULL
