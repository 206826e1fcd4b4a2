-- title: How far each clock is off, how sure that is, and what it was read from
-- topic: logs
-- answers: Can the times of two logs be compared, and how well?
-- column clock_id: clock
-- column segment: number of the segment, from 0; a step or change of rate begins another
-- column status: reference, tied, weak or untied; untied: its records explain nothing
-- column offset_s: how far it is ahead, s
-- column error_s: how uncertain that is at most, s
-- column zone_h: part of the offset that is a time zone, h
-- column drift_ppm: change of the offset, us per s
-- column valid_from: from when on; NULL: from the start
-- column valid_to: until when; NULL: to the end
-- column pairs: requests that tie it
-- column support: share of the bounds that agree
-- column method: how it was tied
-- column sources: logs that it stamped
-- column events: records that it stamped
WITH stamped AS (
    SELECT
        sources.clock_id,
        count(*) AS sources,
        sum(sources.events)::BIGINT AS events
    FROM sources
    GROUP BY sources.clock_id
)

SELECT
    clocks.clock_id,
    clocks.segment,
    clocks.status,
    clocks.offset_us / 1e6 AS offset_s,
    greatest(clocks.hi_us - clocks.offset_us, clocks.offset_us - clocks.lo_us) / 1e6
        AS error_s,
    clocks.time_zone_us / 3.6e9 AS zone_h,
    round(clocks.drift_ppm, 3) AS drift_ppm,
    clocks.valid_from,
    clocks.valid_to,
    clocks.pairs,
    round(clocks.support, 4) AS support,
    clocks.method,
    coalesce(stamped.sources, 0) AS sources,
    coalesce(stamped.events, 0) AS events
FROM clocks
LEFT JOIN stamped ON clocks.clock_id = stamped.clock_id
ORDER BY clocks.clock_id ASC, clocks.segment ASC
