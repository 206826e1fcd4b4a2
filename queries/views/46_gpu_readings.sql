-- title: What monitors read of GPUs: heat, power, clock, load
-- store: table
WITH readings AS (
    SELECT
        events.event_id,
        events.source_id,
        events.clock_id,
        events.ts,
        events.ts_raw,
        events.ts_error_us,
        (events.attrs ->> '$.gpu') AS gpu,
        lower(events.attrs ->> '$.pci') AS pci,
        try_cast((events.attrs ->> '$.temp_c') AS DOUBLE) AS temp_c,
        try_cast((events.attrs ->> '$.power_w') AS DOUBLE) AS power_w,
        try_cast((events.attrs ->> '$.sm_mhz') AS DOUBLE) AS sm_mhz,
        try_cast((events.attrs ->> '$.util_pct') AS DOUBLE) AS util_pct,
        -- Thermal slowdown, by the driver's software and by the card itself.
        coalesce(
            (try_cast((events.attrs ->> '$.throttle') AS BIGINT) & 96) > 0, FALSE
        )
        OR coalesce(
            try_cast((events.attrs ->> '$.thermal_violation') AS DOUBLE) > 0, FALSE
        )
        OR coalesce((events.attrs ->> '$.hw_thermal_slowdown') = 'Active', FALSE)
        OR coalesce((events.attrs ->> '$.sw_thermal_slowdown') = 'Active', FALSE)
            AS throttled
    FROM events
    WHERE events.kind = 'gpu_sample'
),

samples AS (
    SELECT
        events.event_id,
        events.source_id,
        events.clock_id,
        events.ts,
        events.ts_raw,
        events.ts_error_us,
        (events.attrs ->> '$.name') AS name,
        try_cast((events.attrs ->> '$.value') AS DOUBLE) AS value,
        coalesce(
            nullif(
                regexp_extract((events.attrs ->> '$.labels'), '\bgpu="([^"]+)"', 1), ''
            ),
            nullif(
                regexp_extract(
                    (events.attrs ->> '$.labels'), '(?i)\buuid="([^"]+)"', 1
                ), ''
            )
        ) AS gpu,
        nullif(
            regexp_extract(
                lower(events.attrs ->> '$.labels'), '\bpci_bus_id="([^"]+)"', 1
            ), ''
        ) AS pci
    FROM events
    WHERE
        events.kind = 'metric'
        AND regexp_matches((events.attrs ->> '$.name'), '^(DCGM_FI_DEV_|nvidia_smi_)')
),

-- One scrape of a card is one reading; its parts are samples of their own.
scrapes AS (
    SELECT
        coalesce(
            min(samples.event_id) FILTER (
                WHERE
                samples.name IN ('DCGM_FI_DEV_GPU_TEMP', 'nvidia_smi_temperature_gpu')
            ),
            min(samples.event_id)
        ) AS event_id,
        min(samples.source_id) AS source_id,
        samples.clock_id,
        samples.ts,
        samples.ts_raw,
        max(samples.ts_error_us) AS ts_error_us,
        samples.gpu,
        max(samples.pci) AS pci,
        max(samples.value) FILTER (
            WHERE samples.name IN ('DCGM_FI_DEV_GPU_TEMP', 'nvidia_smi_temperature_gpu')
        ) AS temp_c,
        max(samples.value) FILTER (
            WHERE
            samples.name IN ('DCGM_FI_DEV_POWER_USAGE', 'nvidia_smi_power_draw_watts')
        ) AS power_w,
        max(
            CASE
                WHEN samples.name = 'DCGM_FI_DEV_SM_CLOCK' THEN samples.value
                WHEN samples.name = 'nvidia_smi_clocks_current_sm_clock_hz'
                    THEN samples.value / 1e6
            END
        ) AS sm_mhz,
        max(
            CASE
                WHEN samples.name = 'DCGM_FI_DEV_GPU_UTIL' THEN samples.value
                WHEN samples.name = 'nvidia_smi_utilization_gpu_ratio'
                    THEN 100 * samples.value
            END
        ) AS util_pct,
        coalesce(
            bool_or(samples.value::BIGINT & 96 > 0) FILTER (
                WHERE samples.name IN (
                    'DCGM_FI_DEV_CLOCK_THROTTLE_REASONS',
                    'DCGM_FI_DEV_CLOCKS_EVENT_REASONS',
                    'nvidia_smi_clocks_throttle_reasons_active',
                    'nvidia_smi_clocks_event_reasons_active'
                )
            ),
            FALSE
        ) AS throttled
    FROM samples
    WHERE samples.value IS NOT NULL AND isfinite(samples.value)
    GROUP BY samples.clock_id, samples.ts, samples.ts_raw, samples.gpu
),

both_kinds AS (
    SELECT readings.* FROM readings
    UNION ALL
    SELECT scrapes.* FROM scrapes
),

-- The zone of logs that write none, where they all have the same.
zones AS (
    SELECT min(clocks.time_zone_us) AS zone_us
    FROM sources
    INNER JOIN clocks
        ON sources.clock_id = clocks.clock_id AND clocks.segment = 0
    WHERE
        sources.zoned IS NOT TRUE
        AND clocks.status <> 'untied'
    HAVING count(DISTINCT clocks.time_zone_us) = 1
)

-- Nothing ties a monitor's clock, for it knows no request. Where its zone is beyond
-- doubt it is taken for right within three seconds.
SELECT
    both_kinds.event_id,
    both_kinds.clock_id,
    CASE
        WHEN clocks.status <> 'untied' THEN both_kinds.ts
        WHEN sources.zoned IS TRUE THEN both_kinds.ts_raw
        ELSE both_kinds.ts_raw - micros(coalesce((SELECT zones.zone_us FROM zones), 0))
    END AS ts,
    CASE
        WHEN clocks.status <> 'untied' THEN both_kinds.ts_error_us
        ELSE 3000000
    END AS ts_error_us,
    CASE
        WHEN clocks.status <> 'untied' THEN clocks.status
        WHEN sources.zoned IS TRUE OR (SELECT count(*) FROM zones) > 0 THEN 'weak'
        ELSE 'untied'
    END AS clock_status,
    coalesce(both_kinds.gpu, both_kinds.pci, '0') AS gpu,
    both_kinds.pci,
    both_kinds.temp_c,
    both_kinds.power_w,
    both_kinds.sm_mhz,
    both_kinds.util_pct,
    both_kinds.throttled
FROM both_kinds
INNER JOIN sources ON both_kinds.source_id = sources.source_id
LEFT JOIN clocks
    ON both_kinds.clock_id = clocks.clock_id AND clocks.segment = 0
WHERE both_kinds.ts_raw IS NOT NULL
