-- title: Access records whose id occurs more than once
-- store: table
WITH hashed AS (
    SELECT hash(access.request_id) AS id_hash
    FROM access
    WHERE access.request_id IS NOT NULL
),

-- Sorting the hashes finds equal neighbours cheaper than grouping them does.
neighbours AS (
    SELECT
        hashed.id_hash,
        lag(hashed.id_hash) OVER (ORDER BY hashed.id_hash) AS before
    FROM hashed
),

repeated AS (
    SELECT DISTINCT neighbours.id_hash
    FROM neighbours
    WHERE neighbours.id_hash = neighbours.before
)

SELECT
    access.event_id,
    access.source_id,
    access.clock_id,
    access.request_id,
    access.ts_start,
    access.ts_end,
    access.ts_error_us,
    access.ts_precision_us,
    access.status,
    access.duration_ms,
    access.client,
    access.message
FROM access
SEMI JOIN repeated ON hash(access.request_id) = repeated.id_hash
