-- title: What the kernel says, with the engine that it can mean
-- store: table
WITH engines AS (
    SELECT engine_names.engine
    FROM engine_names
    UNION
    SELECT troubles.engine
    FROM troubles
)

-- The kernel knows no engine, so it counts where it names the process or the GPU of
-- one, or where there is but one.
SELECT
    kernel_words.event_id,
    kernel_words.ts,
    kernel_words.ts_raw,
    kernel_words.ts_error_us,
    kernel_words.clock_status,
    kernel_words.kinds,
    kernel_words.gpu,
    kernel_words.engine,
    kernel_words.named,
    engines.engine AS whose,
    kernel_words.named OR kernel_words.engine IS NOT NULL AS certain
FROM kernel_words
INNER JOIN engines
    ON
        engines.engine = kernel_words.engine
        OR (
            kernel_words.engine IS NULL
            AND (SELECT count(*) FROM engines) = 1
            AND NOT EXISTS (
                SELECT 1
                FROM engine_hosts
                WHERE
                    engine_hosts.engine = engines.engine
                    AND engine_hosts.gpu IS NOT NULL
                    AND kernel_words.gpu IS NOT NULL
            )
        )
