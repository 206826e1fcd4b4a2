-- title: Everything that was in trouble, in order of time
-- topic: engines
-- answers: What was wrong with engines, plugins, pools and upstreams, request or not?
-- param layer: text; only this layer
-- column ts_start: start
-- column ts_end: end; NULL: not over when the logs end
-- column layer: layer
-- column cause: cause
-- column role: root, or symptom of something else
-- column scope_kind: what kind of thing: engine, plugin, pool, zone, upstream
-- column scope: what was in trouble
-- column clock_status: status of its clock; untied: it can explain no attempt
-- column victims: failed attempts whose verdict rests on it
-- column because: what shows it
WITH victims AS (
    SELECT
        verdicts.condition_id,
        count(*) AS victims
    FROM verdicts
    WHERE verdicts.condition_id IS NOT NULL
    GROUP BY verdicts.condition_id
)

SELECT
    conditions.ts_start,
    conditions.ts_end,
    conditions.layer,
    conditions.cause,
    conditions.role,
    conditions.scope_kind,
    conditions.scope,
    conditions.clock_status,
    coalesce(victims.victims, 0) AS victims,
    conditions.because
FROM conditions
LEFT JOIN victims ON conditions.condition_id = victims.condition_id
WHERE $layer IS NULL OR conditions.layer = $layer
ORDER BY conditions.ts_start ASC, conditions.condition_id ASC
