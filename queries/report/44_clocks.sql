-- title: What each clock is ahead by, and within which bounds
-- title zh: 各时钟的超前量及其范围
WITH stamped AS (
    SELECT
        sources.clock_id,
        count(*) AS sources,
        min(sources.first_ts) AS first_ts,
        max(sources.last_ts) AS last_ts
    FROM sources
    WHERE sources.events > 0 AND sources.first_ts IS NOT NULL
    GROUP BY sources.clock_id
)

SELECT
    clocks.clock_id,
    clocks.segment,
    clocks.status,
    clocks.method,
    clocks.offset_us,
    clocks.lo_us,
    clocks.hi_us,
    clocks.anchor_ts,
    clocks.drift_ppm,
    clocks.time_zone_us,
    clocks.valid_from,
    clocks.valid_to,
    clocks.pairs,
    clocks.support,
    stamped.sources,
    stamped.first_ts,
    stamped.last_ts
FROM clocks
INNER JOIN stamped ON clocks.clock_id = stamped.clock_id
ORDER BY
    clocks.status <> 'reference',
    clocks.status = 'untied',
    clocks.clock_id ASC,
    clocks.segment ASC
