-- title: Causes that held as well, beside the one that decided
-- title zh: 除决定性原因外同时成立的原因
WITH others AS (
    SELECT
        verdicts.cause,
        unnest(verdicts.contributing) AS contributing
    FROM verdicts
)

SELECT
    others.cause,
    others.contributing,
    count(*) AS attempts
FROM others
GROUP BY others.cause, others.contributing
ORDER BY attempts DESC, others.cause ASC, others.contributing ASC
LIMIT 40
