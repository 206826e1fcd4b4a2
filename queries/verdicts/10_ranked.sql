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
            -- Of what one rule can say: a reason before what only says that it is gone.
            coalesce(
                list_position(
                    [
                        'model.hung', 'model.engine_restart_loop', 'model.worker_died',
                        'model.startup_failure', 'model.engine_dead', 'model.not_ready'
                    ],
                    findings.cause
                ),
                0
            ),
            findings.ts,
            findings.cause
    ) AS place,
    count(*) OVER (PARTITION BY findings.attempt_id) AS findings
FROM findings
