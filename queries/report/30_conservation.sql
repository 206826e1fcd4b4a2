-- title: Every line accounted for, and how many records no format took
-- title zh: 每一行的去向，以及未被任何格式识别的记录数
SELECT
    count(*) AS sources,
    coalesce(sum(sources.bytes), 0)::BIGINT AS bytes,
    coalesce(sum(sources.lines), 0)::BIGINT AS lines,
    coalesce(sum(sources.events), 0)::BIGINT AS events,
    coalesce(sum(sources.rejects), 0)::BIGINT AS rejects,
    coalesce(sum(sources.blank_lines), 0)::BIGINT AS blank_lines,
    coalesce(sum(sources.damaged_lines), 0)::BIGINT AS damaged_lines
FROM sources
