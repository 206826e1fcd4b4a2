-- title: Times in which a GPU was too hot to work at its full speed
-- store: table
WITH rated AS (
    SELECT
        gpu_readings.*,
        max(gpu_readings.power_w) OVER card AS most_w,
        max(gpu_readings.sm_mhz) OVER card AS most_mhz
    FROM gpu_readings
    WINDOW card AS (PARTITION BY gpu_readings.clock_id, gpu_readings.gpu)
),

judged AS (
    SELECT
        rated.*,
        rated.throttled
        OR (
            rated.temp_c > threshold('gpu_hot_c')
            AND (
                (rated.power_w IS NULL AND rated.sm_mhz IS NULL)
                OR rated.power_w < threshold('gpu_throttled') * rated.most_w
                OR rated.sm_mhz < threshold('gpu_throttled') * rated.most_mhz
            )
        ) AS hot
    FROM rated
),

numbered AS (
    SELECT
        judged.*,
        sum(CASE WHEN judged.hot IS TRUE THEN 0 ELSE 1 END) OVER (
            PARTITION BY judged.clock_id, judged.gpu ORDER BY judged.ts, judged.event_id
        ) AS run
    FROM judged
),

heats AS (
    SELECT
        numbered.clock_id,
        numbered.gpu,
        -- Bus and device; some write the domain with four digits, some with eight.
        nullif(
            regexp_extract(
                max(numbered.pci), '([0-9a-f]{2}:[0-9a-f]{2})(\.[0-9a-f])?$', 1
            ), ''
        ) AS bus,
        min(numbered.ts) AS ts_start,
        max(numbered.ts) AS ts_end,
        max(numbered.ts_error_us) AS ts_error_us,
        min(numbered.clock_status) AS clock_status,
        'GPU ' || replace(numbered.gpu, 'GPU ', '') || ' was throttled by heat'
        || coalesce(', at up to ' || round(max(numbered.temp_c))::BIGINT || ' C', '')
        || coalesce(
            ', its clock at ' || round(min(numbered.sm_mhz))::BIGINT || ' of '
            || round(max(numbered.most_mhz))::BIGINT || ' MHz',
            ', its power at ' || round(min(numbered.power_w))::BIGINT || ' of '
            || round(max(numbered.most_w))::BIGINT || ' W',
            ''
        ) AS because,
        list(numbered.event_id ORDER BY numbered.event_id)[1:10] AS evidence
    FROM numbered
    WHERE numbered.hot
    GROUP BY numbered.clock_id, numbered.gpu, numbered.run
),

engines AS (
    SELECT engine_names.engine
    FROM engine_names
    UNION
    SELECT failures.engine
    FROM failures
    WHERE failures.engine IS NOT NULL
)

-- Of each engine that may run on it: all but those whose GPU is known for another one.
SELECT
    engines.engine,
    heats.gpu,
    heats.ts_start,
    heats.ts_end,
    heats.ts_error_us,
    heats.clock_status,
    heats.because,
    heats.evidence,
    (SELECT count(*) FROM engines) = 1 AS only_engine
FROM heats
CROSS JOIN engines
WHERE
    NOT EXISTS (
        SELECT 1
        FROM engine_hosts
        WHERE
            engine_hosts.engine = engines.engine
            AND NOT contains(engine_hosts.gpu, heats.bus)
    )
