-- title: What the kernel says, with the engine that it can mean
-- store: table
WITH engines AS (
    SELECT engine_names.engine
    FROM engine_names
    UNION
    SELECT troubles.engine
    FROM troubles
),

-- Of engines without a log that one which was lost right then, while others went on.
lost AS (
    SELECT
        kernel_words.event_id,
        min(lost_contacts.engine) AS engine
    FROM kernel_words
    INNER JOIN lost_contacts
        ON
            lost_contacts.ts
            BETWEEN kernel_words.ts - micros(kernel_words.ts_error_us)
            AND kernel_words.ts + INTERVAL 120 SECOND
    WHERE
        kernel_words.engine IS NULL
        AND kernel_words.clock_status <> 'untied'
        AND lost_contacts.engine NOT IN (SELECT engines.engine FROM engines)
        AND NOT EXISTS (
            SELECT 1
            FROM seconds
            WHERE
                seconds.engine = lost_contacts.engine
                AND seconds.served > 0
                AND seconds.second
                > kernel_words.ts + micros(kernel_words.ts_error_us)
                AND seconds.second <= lost_contacts.ts
        )
    GROUP BY kernel_words.event_id
    HAVING count(DISTINCT lost_contacts.engine) = 1
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
    kernel_words.named OR kernel_words.engine IS NOT NULL AS certain,
    FALSE AS lost
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
UNION ALL
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
    lost.engine AS whose,
    TRUE AS certain,
    TRUE AS lost
FROM kernel_words
INNER JOIN lost ON kernel_words.event_id = lost.event_id
