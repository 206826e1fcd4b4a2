-- title: GPU heat and power before each trouble of an engine
-- topic: engines
-- answers: Was a GPU hot, throttled or at its limit in the minutes before an engine failed?
-- param before: duration = 10m; how long before the start
-- column condition_id: condition
-- column cause: cause
-- column engine: engine, or what else of the model layer was in trouble
-- column ts_start: start of the trouble
-- column gpu: GPU
-- column readings: readings in that time
-- column last_temp_c: last temperature before it, degrees Celsius
-- column most_temp_c: highest temperature, degrees Celsius
-- column most_power_w: highest power, W
-- column least_sm_mhz: lowest clock of the multiprocessors, MHz
-- column throttled: readings that show it slowed down by heat
-- column clock_status: status of the monitor's clock; weak: right within 3 s
SELECT
    conditions.condition_id,
    conditions.cause,
    conditions.scope AS engine,
    conditions.ts_start,
    gpu_readings.gpu,
    count(*) AS readings,
    arg_max(gpu_readings.temp_c, (gpu_readings.ts, gpu_readings.event_id))
        AS last_temp_c,
    max(gpu_readings.temp_c) AS most_temp_c,
    max(gpu_readings.power_w) AS most_power_w,
    min(gpu_readings.sm_mhz) AS least_sm_mhz,
    count(*) FILTER (WHERE gpu_readings.throttled) AS throttled,
    min(gpu_readings.clock_status) AS clock_status
FROM conditions
INNER JOIN gpu_readings
    ON
        gpu_readings.ts
        >= conditions.ts_start - $before
        - to_microseconds(coalesce(gpu_readings.ts_error_us, 0))
        AND gpu_readings.ts
        <= conditions.ts_start + to_microseconds(coalesce(gpu_readings.ts_error_us, 0))
WHERE
    conditions.layer = 'model'
    AND conditions.role = 'root'
    AND gpu_readings.clock_status <> 'untied'
GROUP BY
    conditions.condition_id,
    conditions.cause,
    conditions.scope,
    conditions.ts_start,
    gpu_readings.clock_id,
    gpu_readings.gpu
ORDER BY
    conditions.ts_start ASC,
    conditions.condition_id ASC,
    gpu_readings.gpu ASC,
    gpu_readings.clock_id ASC
