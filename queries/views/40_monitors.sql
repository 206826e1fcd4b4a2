-- title: How far the stamps of monitors, which know no request, can be believed
-- store: table
WITH zones AS (
    -- The zone of logs that write none, where they all have the same.
    SELECT min(clocks.time_zone_us) AS zone_us
    FROM sources
    INNER JOIN clocks
        ON sources.clock_id = clocks.clock_id AND clocks.segment = 0
    WHERE
        sources.zoned IS NOT TRUE
        AND clocks.status <> 'untied'
    HAVING count(DISTINCT clocks.time_zone_us) = 1
)

-- Nothing ties such a clock. Where its zone is beyond doubt it is taken for right
-- within three seconds: then `shift_us` is what to take off its stamps.
SELECT
    sources.source_id,
    sources.clock_id,
    sources.host,
    CASE
        WHEN clocks.status <> 'untied' THEN NULL
        WHEN sources.zoned IS TRUE THEN 0
        ELSE (SELECT zones.zone_us FROM zones)
    END AS shift_us,
    CASE
        WHEN clocks.status <> 'untied' THEN clocks.status
        WHEN sources.zoned IS TRUE OR (SELECT count(*) FROM zones) > 0 THEN 'weak'
        ELSE 'untied'
    END AS clock_status
FROM sources
LEFT JOIN clocks
    ON sources.clock_id = clocks.clock_id AND clocks.segment = 0
WHERE sources.component IN ('gpu', 'metrics')
