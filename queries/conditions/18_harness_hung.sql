-- title: All workers of the harness are stuck, and its log stands still
-- layer: harness
-- cause: harness.hung
-- needs: hung_harness
-- known gaps: harnesses that have neither a metric of their workers nor a probe
SELECT
    'harness.hung' AS cause,
    'root' AS role,
    'harness' AS scope_kind,
    'harness' AS scope,
    hung_harness.ts_start,
    hung_harness.ts_end,
    hung_harness.ts_error_us,
    hung_harness.clock_status,
    hung_harness.signs || ', and no record of the harness for '
    || date_diff('second', hung_harness.ts_start, hung_harness.ts_end) || ' s'
        AS because,
    hung_harness.evidence
FROM hung_harness
