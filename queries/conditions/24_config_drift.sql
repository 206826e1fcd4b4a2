-- title: A reload changed a setting for the worse, until it is changed again
-- layer: harness
-- cause: harness.config_drift
-- needs: drifted
-- known gaps: files that changed without a record; settings that another program reads
SELECT
    'harness.config_drift' AS cause,
    'root' AS role,
    'setting' AS scope_kind,
    changed_settings.setting AS scope,
    changed_settings.ts AS ts_start,
    changed_settings.next_ts AS ts_end,
    changed_settings.ts_error_us,
    changed_settings.clock_status,
    'a reload changed ' || changed_settings.setting || ' from '
    || changed_settings.before || ' to ' || changed_settings.after AS because,
    [changed_settings.event_id] AS evidence
FROM changed_settings
-- A change that hurts nobody is in order.
SEMI JOIN drifted
    ON
        changed_settings.event_id = drifted.event_id
        AND changed_settings.setting = drifted.setting
