-- title: A model was loaded with a tokenizer of another one
-- layer: model
-- cause: model.tokenizer_mismatch
-- needs: marks
-- known gaps: tokenizers that load without a warning
SELECT
    'model.tokenizer_mismatch' AS cause,
    'root' AS role,
    'tokenizer' AS scope_kind,
    marks.engine AS scope,
    marks.ts AS ts_start,
    CAST(NULL AS TIMESTAMP) AS ts_end,
    marks.ts_error_us,
    marks.clock_status,
    'the tokenizer is of another model' AS because,
    [marks.event_id] AS evidence
FROM marks
-- Many a model warns and is well: tokens outside of its vocabulary show that it is not.
SEMI JOIN marks AS shown
    ON
        list_contains(shown.kinds, 'token_out_of_vocabulary')
        AND shown.clock_id = marks.clock_id
        AND shown.ts >= marks.ts
WHERE
    marks.kind = 'tokenizer_mismatch'
    AND marks.severity = 'warning'
    AND marks.request_id IS NULL
