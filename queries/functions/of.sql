-- title: Attempts and records of one request in corrected time, and then its verdicts
-- param id: text; the id as any log spells it, or a beginning that no other id has
-- column ts: corrected time of a record, of the start of an attempt; for a verdict its end
-- column ts_error_us: uncertainty of ts, us; NULL = clock is untied
-- column what: attempt, event or verdict
-- column attempt: number of the attempt within the request; NULL for events
-- column layer: layer of the record, or that the verdict names
-- column component: program that wrote the record
-- column kind: what the record means; the attempt's status; the verdict's cause
-- column said: text of the record; how the attempt went; why the verdict
-- column event_id: record of `events`, or the one that defines the attempt
-- column request_id: canonical request id
WITH asked AS (
    SELECT
        bares.said,
        bares.bare,
        lower(replace(bares.bare, '-', '')) AS beginning,
        CASE
            WHEN regexp_full_match(replace(bares.bare, '-', ''), '[0-9a-fA-F]{32}')
                THEN regexp_replace(
                    lower(replace(bares.bare, '-', '')),
                    '^(.{8})(.{4})(.{4})(.{4})(.{12})$', '\1-\2-\3-\4-\5'
                )
        END AS uuid
    FROM (
        SELECT
            trims.said,
            regexp_replace(
                trims.said,
                '^(\d+_)?(chatcmpl|cmpl|chat|embd|pool|score|rerank|tokenize|tokn'
                || '|classify|resp)-(.)',
                '\3'
            ) AS bare
        FROM (SELECT trim(CAST($id AS VARCHAR), ' "''`<>[],;') AS said) AS trims
    ) AS bares
    WHERE bares.said <> ''
),

known AS (
    SELECT
        attempts.request_id AS spelling,
        attempts.request_id
    FROM attempts
    UNION ALL
    SELECT
        aliases.alias AS spelling,
        aliases.request_id
    FROM aliases
    UNION ALL
    SELECT
        events.raw_request_id AS spelling,
        events.request_id
    FROM events
    UNION ALL
    SELECT
        parts.part AS spelling,
        coalesce(aliases.request_id, parts.part) AS request_id
    FROM (SELECT unnest(events_raw.id_parts) AS part FROM events_raw) AS parts
    LEFT JOIN aliases ON parts.part = aliases.alias
),

-- The nearer to what was said, the better: 1 the id itself, 4 a beginning of one.
matches AS (
    SELECT
        known.request_id,
        min(
            CASE
                WHEN known.request_id = asked.said THEN 1
                WHEN known.spelling = asked.said THEN 2
                WHEN known.spelling IN (asked.bare, asked.uuid) THEN 3
                ELSE 4
            END
        ) AS distance
    FROM known
    INNER JOIN asked
        ON
            known.request_id = asked.said
            OR known.spelling IN (asked.said, asked.bare, asked.uuid)
            OR starts_with(lower(replace(known.spelling, '-', '')), asked.beginning)
    WHERE known.request_id IS NOT NULL
    GROUP BY known.request_id
),

nearest AS (
    SELECT list(matches.request_id ORDER BY matches.request_id) AS ids
    FROM matches
    WHERE matches.distance = (SELECT min(matches.distance) FROM matches)
),

requests AS (
    SELECT
        CASE
            WHEN len(nearest.ids) > 1
                THEN error(
                    len(nearest.ids)
                    || ' requests have an id that begins so, give more of it: '
                    || array_to_string(nearest.ids[:10], ', ')
                )
            ELSE nearest.ids[1]
        END AS request_id
    FROM nearest
),

spellings AS (
    SELECT
        requests.request_id,
        list(aliases.alias) || [requests.request_id] AS names
    FROM requests
    LEFT JOIN aliases ON requests.request_id = aliases.request_id
    GROUP BY requests.request_id
),

tries AS (
    SELECT attempts.*
    FROM attempts
    INNER JOIN requests ON attempts.request_id = requests.request_id
),

found AS (
    SELECT
        tries.ts_start AS ts,
        tries.ts_error_us,
        1 AS place,
        'attempt' AS what,
        tries.attempt,
        NULL AS layer,
        NULL AS component,
        tries.status::VARCHAR AS kind,
        concat_ws(
            ', ',
            CASE WHEN tries.failed THEN 'failed' ELSE 'served' END,
            date_diff('millisecond', tries.ts_start, tries.ts_end) || ' ms',
            'engine ' || tries.engine,
            'model ' || tries.model,
            'user ' || tries.user_id
        ) AS said,
        tries.attempt_id AS event_id,
        tries.request_id
    FROM tries
    UNION ALL
    SELECT
        events.ts,
        events.ts_error_us,
        2 AS place,
        'event' AS what,
        NULL AS attempt,
        events.layer,
        events.component,
        events.kind,
        events.message AS said,
        events.event_id,
        spellings.request_id
    FROM events
    INNER JOIN spellings
        ON
            events.request_id = spellings.request_id
            OR list_has_any(events.id_parts, spellings.names)
    UNION ALL
    SELECT
        tries.ts_end AS ts,
        tries.ts_error_us,
        3 AS place,
        'verdict' AS what,
        tries.attempt,
        verdicts.layer,
        NULL AS component,
        verdicts.cause AS kind,
        concat_ws(': ', verdicts.strength, verdicts.because) AS said,
        verdicts.attempt_id AS event_id,
        tries.request_id
    FROM verdicts
    INNER JOIN tries ON verdicts.attempt_id = tries.attempt_id
)

SELECT
    found.ts,
    found.ts_error_us,
    found.what,
    found.attempt,
    found.layer,
    found.component,
    found.kind,
    found.said,
    found.event_id,
    found.request_id
FROM found
ORDER BY
    found.place = 3 ASC, found.ts ASC NULLS LAST, found.place ASC, found.event_id ASC
