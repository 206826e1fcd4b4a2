-- title: What engines say of their work while their GPU was throttled by heat
-- store: table
SELECT
    progress.event_id,
    string_agg(gpu_heat.because, '; ' ORDER BY gpu_heat.ts_start, gpu_heat.gpu)
        AS because,
    flatten(list(gpu_heat.evidence ORDER BY gpu_heat.ts_start, gpu_heat.gpu))
        AS evidence
FROM progress
INNER JOIN gpu_heat
    ON
        progress.engine = gpu_heat.engine
        AND gpu_heat.clock_status <> 'untied'
        AND may_overlap(
            progress.ts, progress.ts, progress.ts_error_us,
            gpu_heat.ts_start, gpu_heat.ts_end, gpu_heat.ts_error_us
        )
GROUP BY progress.event_id
