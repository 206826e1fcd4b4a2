-- title: Other spellings of a request id: engine suffixes, joined ids, trace nibbles
-- store: table
WITH suffixed AS (
    SELECT DISTINCT
        events_raw.request_id AS alias,
        canonical_id(
            regexp_replace(events_raw.request_id, '-([0-9a-f]{8}|[0-9]{1,3})$', '')
        ) AS rest
    FROM events_raw
    WHERE
        events_raw.layer = 'model'
        AND regexp_matches(events_raw.request_id, '-([0-9a-f]{8}|[0-9]{1,3})$')
        AND NOT regexp_matches(
            events_raw.request_id,
            '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
        )
),

listed AS (
    SELECT DISTINCT
        parts.alias,
        canonical_id(
            regexp_replace(parts.alias, '-([0-9a-f]{8}|[0-9]{1,3})$', '')
        ) AS rest
    FROM (
        SELECT unnest(events_raw.id_parts) AS alias
        FROM events_raw
        WHERE events_raw.layer = 'model' AND events_raw.id_parts IS NOT NULL
    ) AS parts
    WHERE
        regexp_matches(parts.alias, '-([0-9a-f]{8}|[0-9]{1,3})$')
        AND NOT regexp_matches(
            parts.alias,
            '^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$'
        )
),

candidates AS (
    SELECT
        suffixed.alias,
        suffixed.rest
    FROM suffixed
    UNION
    SELECT
        listed.alias,
        listed.rest
    FROM listed
),

-- An id that somebody outside of the engine uses as it stands has no suffix.
own_names AS (
    SELECT DISTINCT events_raw.request_id
    FROM events_raw
    INNER JOIN candidates ON events_raw.request_id = candidates.alias
    WHERE events_raw.layer <> 'model'
),

-- The suffix goes only when the rest is an id that somebody knows.
known_rests AS (
    SELECT DISTINCT events_raw.request_id
    FROM events_raw
    INNER JOIN candidates ON events_raw.request_id = candidates.rest
),

joined AS (
    SELECT
        events_raw.request_id,
        unnest(events_raw.id_parts) AS alias
    FROM events_raw
    WHERE events_raw.kind = 'access' AND len(events_raw.id_parts) > 1
),

nibbles AS (
    SELECT DISTINCT
        events_raw.request_id AS alias,
        uuid_mask(events_raw.request_id) AS mask
    FROM events_raw
    WHERE
        events_raw.component IN ('envoy', 'istio')
        AND regexp_matches(
            events_raw.request_id,
            '^[0-9a-f]{8}-[0-9a-f]{4}-[9ab][0-9a-f]{3}-[0-9a-f]{4}-[0-9a-f]{12}$'
        )
),

unmasked AS (
    SELECT
        nibbles.alias,
        min(events_raw.request_id) AS request_id
    FROM nibbles
    INNER JOIN events_raw ON nibbles.mask = uuid_mask(events_raw.request_id)
    WHERE events_raw.request_id <> nibbles.alias
    GROUP BY nibbles.alias
    HAVING count(DISTINCT events_raw.request_id) = 1
)

SELECT
    candidates.alias,
    candidates.rest AS request_id,
    'engine suffix' AS reason
FROM candidates
WHERE
    candidates.rest IN (SELECT known_rests.request_id FROM known_rests)
    AND candidates.alias NOT IN (SELECT own_names.request_id FROM own_names)
UNION ALL
SELECT
    joined.alias,
    min(joined.request_id) AS request_id,
    'joined ids' AS reason
FROM joined
WHERE joined.alias <> joined.request_id
GROUP BY joined.alias
HAVING count(DISTINCT joined.request_id) = 1
UNION ALL
SELECT
    unmasked.alias,
    unmasked.request_id,
    'trace nibble' AS reason
FROM unmasked
ORDER BY alias
