-- title: Findings in the order in which they decide
-- store: table
SELECT
    findings.*,
    row_number() OVER (
        PARTITION BY findings.attempt_id
        ORDER BY
            findings.role <> 'root',
            CASE findings.strength
                WHEN 'proven' THEN 1
                WHEN 'corroborated' THEN 2
                ELSE 3
            END,
            findings.precedence,
            findings.cause = 'model.engine_dead',
            findings.ts,
            findings.cause
    ) AS place
FROM findings
