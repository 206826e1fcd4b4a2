-- title: How sure the verdicts are
-- title zh: 各判定的确定程度
SELECT
    count(*) AS verdicts,
    count(*) FILTER (WHERE verdicts.strength = 'proven') AS proven,
    count(*) FILTER (WHERE verdicts.strength = 'corroborated') AS corroborated,
    count(*) FILTER (WHERE verdicts.strength = 'inferred') AS inferred,
    count(*) FILTER (WHERE verdicts.strength = 'undetermined') AS undetermined,
    count(*) FILTER (WHERE verdicts.clock_sensitive) AS clock_sensitive
FROM verdicts
