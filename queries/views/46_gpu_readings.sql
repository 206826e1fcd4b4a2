-- title: What monitors read of GPUs: heat, power, clock, load
-- store: case
WITH readings AS (
    SELECT
        events.event_id,
        events.source_id,
        CASE
            WHEN monitors.shift_us IS NULL THEN events.ts
            ELSE events.ts_raw - micros(monitors.shift_us)
        END AS ts,
        CASE
            WHEN monitors.shift_us IS NULL THEN events.ts_error_us
            ELSE 3000000
        END AS ts_error_us,
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
    INNER JOIN monitors ON events.source_id = monitors.source_id
    WHERE events.kind = 'gpu_sample'
),

cards AS (
    SELECT
        samples.event_id,
        samples.source_id,
        samples.ts,
        samples.ts_error_us,
        samples.name,
        samples.value,
        coalesce(
            nullif(regexp_extract(samples.labels, '\bgpu="([^"]+)"', 1), ''),
            nullif(regexp_extract(samples.labels, '(?i)\buuid="([^"]+)"', 1), '')
        ) AS gpu,
        nullif(
            regexp_extract(lower(samples.labels), '\bpci_bus_id="([^"]+)"', 1), ''
        ) AS pci
    FROM samples
    WHERE regexp_matches(samples.name, '^(DCGM_FI_DEV_|nvidia_smi_)')
),

-- One scrape of a card is one reading; its parts are samples of their own.
scrapes AS (
    SELECT
        coalesce(
            min(cards.event_id) FILTER (
                WHERE
                cards.name IN ('DCGM_FI_DEV_GPU_TEMP', 'nvidia_smi_temperature_gpu')
            ),
            min(cards.event_id)
        ) AS event_id,
        cards.source_id,
        cards.ts,
        max(cards.ts_error_us) AS ts_error_us,
        cards.gpu,
        max(cards.pci) AS pci,
        max(cards.value) FILTER (
            WHERE cards.name IN ('DCGM_FI_DEV_GPU_TEMP', 'nvidia_smi_temperature_gpu')
        ) AS temp_c,
        max(cards.value) FILTER (
            WHERE
            cards.name IN ('DCGM_FI_DEV_POWER_USAGE', 'nvidia_smi_power_draw_watts')
        ) AS power_w,
        max(
            CASE
                WHEN cards.name = 'DCGM_FI_DEV_SM_CLOCK' THEN cards.value
                WHEN cards.name = 'nvidia_smi_clocks_current_sm_clock_hz'
                    THEN cards.value / 1e6
            END
        ) AS sm_mhz,
        max(
            CASE
                WHEN cards.name = 'DCGM_FI_DEV_GPU_UTIL' THEN cards.value
                WHEN cards.name = 'nvidia_smi_utilization_gpu_ratio'
                    THEN 100 * cards.value
            END
        ) AS util_pct,
        coalesce(
            bool_or(cards.value::BIGINT & 96 > 0) FILTER (
                WHERE cards.name IN (
                    'DCGM_FI_DEV_CLOCK_THROTTLE_REASONS',
                    'DCGM_FI_DEV_CLOCKS_EVENT_REASONS',
                    'nvidia_smi_clocks_throttle_reasons_active',
                    'nvidia_smi_clocks_event_reasons_active'
                )
            ),
            FALSE
        ) AS throttled
    FROM cards
    GROUP BY cards.source_id, cards.ts, cards.gpu
),

both_kinds AS (
    SELECT readings.* FROM readings
    UNION ALL
    SELECT scrapes.* FROM scrapes
)

SELECT
    both_kinds.event_id,
    monitors.clock_id,
    both_kinds.ts,
    both_kinds.ts_error_us,
    monitors.clock_status,
    coalesce(both_kinds.gpu, both_kinds.pci, '0') AS gpu,
    both_kinds.pci,
    both_kinds.temp_c,
    both_kinds.power_w,
    both_kinds.sm_mhz,
    both_kinds.util_pct,
    both_kinds.throttled
FROM both_kinds
INNER JOIN monitors ON both_kinds.source_id = monitors.source_id
WHERE both_kinds.ts IS NOT NULL
