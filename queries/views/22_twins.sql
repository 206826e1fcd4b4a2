-- title: Access records that describe an exchange which another record has already
-- store: table
WITH logs AS (
    SELECT
        sources.source_id,
        sources.log_set
    FROM sources
),

idless AS (
    SELECT
        access.event_id,
        access.source_id,
        access.ts_end,
        access.ts_precision_us,
        access.status,
        access.duration_ms,
        access.client,
        access.message
    FROM access
    WHERE access.request_id IS NULL AND access.duration_ms IS NOT NULL
),

-- The same exchange in two logs of one server, by id ...
by_id AS (
    SELECT
        twin.event_id,
        min(first.event_id) AS first_event_id
    FROM repeats AS twin
    INNER JOIN repeats AS first
        ON
            twin.request_id = first.request_id
            AND twin.status = first.status
            AND twin.source_id > first.source_id
            AND abs(date_diff('microsecond', twin.ts_end, first.ts_end))
            <= greatest(twin.ts_error_us, first.ts_error_us) + 20000
            AND abs(twin.duration_ms - first.duration_ms) <= 2
    INNER JOIN logs AS twin_log ON twin.source_id = twin_log.source_id
    INNER JOIN logs AS first_log ON first.source_id = first_log.source_id
    WHERE twin_log.log_set <> first_log.log_set
    GROUP BY twin.event_id
),

-- ... or, when one of the logs has no id, by everything else.
by_shape AS (
    SELECT
        idless.event_id,
        min(access.event_id) AS first_event_id
    FROM idless
    INNER JOIN access
        ON
            idless.client = access.client
            AND idless.status = access.status
            AND idless.source_id <> access.source_id
            AND idless.duration_ms = access.duration_ms
            AND idless.message = access.message
            AND abs(date_diff('microsecond', idless.ts_end, access.ts_end))
            <= greatest(idless.ts_precision_us, access.ts_precision_us) + 20000
    INNER JOIN logs AS twin_log ON idless.source_id = twin_log.source_id
    INNER JOIN logs AS first_log ON access.source_id = first_log.source_id
    WHERE
        access.request_id IS NOT NULL
        AND twin_log.log_set <> first_log.log_set
    GROUP BY idless.event_id
)

SELECT
    by_id.event_id,
    by_id.first_event_id
FROM by_id
UNION ALL
SELECT
    by_shape.event_id,
    by_shape.first_event_id
FROM by_shape
