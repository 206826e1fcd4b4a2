-- title: Failed attempts by layer, and how sure that is
-- title zh: 按层统计的失败尝试及其确定程度
SELECT
    verdicts.layer,
    count(*) AS failed,
    count(*) FILTER (WHERE verdicts.strength = 'proven') AS proven,
    count(*) FILTER (WHERE verdicts.strength = 'corroborated') AS corroborated,
    count(*) FILTER (WHERE verdicts.strength = 'inferred') AS inferred,
    count(*) FILTER (WHERE verdicts.strength = 'undetermined') AS undetermined,
    count(*) FILTER (WHERE verdicts.clock_sensitive) AS clock_sensitive
FROM verdicts
GROUP BY verdicts.layer
ORDER BY verdicts.layer = 'undetermined', failed DESC, verdicts.layer ASC
