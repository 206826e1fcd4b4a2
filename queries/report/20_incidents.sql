-- title: Incidents, the greatest first: whom they hit, noticed and over when
-- title zh: 各次故障（由大到小）：影响了谁，何时被发现，何时结束
SELECT
    incidents.incident_id,
    incidents.layer,
    incidents.cause,
    incidents.scope,
    incidents.attempts,
    incidents.requests,
    incidents.retries,
    incidents.users,
    incidents.share,
    incidents.ts_onset,
    incidents.ts_error_us,
    incidents.ts_noticed,
    incidents.detect_s,
    incidents.ts_recovered,
    incidents.recover_s,
    incidents.target_s,
    incidents.target_met
FROM incidents
ORDER BY incidents.attempts DESC, incidents.ts_start ASC, incidents.incident_id ASC
LIMIT 200
