-- title: Messages that no signature knows, as templates with a drafted signature
-- topic: logs
-- answers: What do the logs say that is not understood yet, since when, and how often?
-- param top: integer = 50; how many templates
-- param scope: text = trouble; trouble: warnings and worse; all: any record
-- column records: records that fit the template
-- column severity: worst severity of them
-- column component: program that wrote them
-- column template: the message with numbers, ids, addresses and paths left out
-- column near_failures: records in the second in which a failed attempt began or ended
-- column first_ts: first of them
-- column last_ts: last of them
-- column path: log of the first one
-- column line: its line
-- column example: the message of the first one
-- column signature: a draft for parsers/signatures/; its kind is yours to name
WITH unknown AS (
    SELECT
        events.event_id,
        events.source_id,
        events.line,
        events.ts,
        events.component,
        events.layer,
        CASE events.severity
            WHEN 'critical' THEN 4
            WHEN 'error' THEN 3
            WHEN 'warning' THEN 2
            WHEN 'info' THEN 1
            ELSE 0
        END AS rank,
        -- The first line says it; what follows are frames.
        substr(split_part(events.message, chr(10), 1), 1, 400) AS message
    FROM events
    WHERE
        events.kind = 'other'
        AND events.message IS NOT NULL
        AND (
            $scope <> 'trouble'
            OR events.severity IN ('warning', 'error', 'critical')
        )
),

-- From the most particular to plain numbers.
templates AS (
    SELECT
        unknown.*,
        trim(
            regexp_replace(
                regexp_replace(
                    regexp_replace(
                        regexp_replace(
                            regexp_replace(
                                regexp_replace(
                                    regexp_replace(
                                        unknown.message,
                                        '[0-9a-fA-F]{8}-[0-9a-fA-F]{4}-[0-9a-fA-F]{4}'
                                        || '-[0-9a-fA-F]{4}-[0-9a-fA-F]{12}',
                                        '<id>', 'g'
                                    ),
                                    'https?://\S+', '<url>', 'g'
                                ),
                                '\b\d{1,3}(?:\.\d{1,3}){3}(?::\d+)?\b', '<addr>', 'g'
                            ),
                            '(^|[\s''"=(\[])(?:~|\.{1,2})?/[^\s''",;:)\]]+',
                            '\1<path>', 'g'
                        ),
                        '\b\d{4}-\d\d-\d\d[T ][\d:.]+(?:Z|[+-]\d\d:?\d\d)?',
                        '<time>',
                        'g'
                    ),
                    '\b(?:0x[0-9a-fA-F]+|[0-9a-fA-F]*\d[0-9a-fA-F]*[a-fA-F]'
                    || '[0-9a-fA-F]{5,}|[a-fA-F]+\d[0-9a-fA-F]{6,})\b',
                    '<id>', 'g'
                ),
                '\d+(?:\.\d+)?', '<n>', 'g'
            )
        ) AS template
    FROM unknown
),

-- Each second of a failed attempt's start and end, once.
failing AS (
    SELECT DISTINCT
        unnest(
            [
                date_trunc('second', attempts.ts_start),
                date_trunc('second', attempts.ts_end)
            ]
        ) AS second
    FROM verdicts
    INNER JOIN attempts ON verdicts.attempt_id = attempts.attempt_id
),

grouped AS (
    SELECT
        templates.component,
        templates.template,
        count(*) AS records,
        max(templates.rank) AS rank,
        count(failing.second) AS near_failures,
        min(templates.ts) AS first_ts,
        max(templates.ts) AS last_ts,
        min(templates.event_id) AS event_id,
        arg_min(templates.layer, templates.event_id) AS layer,
        arg_min(templates.source_id, templates.event_id) AS source_id,
        arg_min(templates.line, templates.event_id) AS line,
        arg_min(templates.message, templates.event_id) AS example
    FROM templates
    LEFT JOIN failing ON date_trunc('second', templates.ts) = failing.second
    WHERE templates.template <> ''
    GROUP BY templates.component, templates.template
)

SELECT
    grouped.records,
    ['debug', 'info', 'warning', 'error', 'critical'][grouped.rank + 1] AS severity,
    grouped.component,
    grouped.template,
    grouped.near_failures,
    grouped.first_ts,
    grouped.last_ts,
    sources.path,
    grouped.line,
    grouped.example,
    '[[signature]]' || chr(10) || 'kind = ""' || chr(10)
    || 'at = "anywhere"' || chr(10)
    || 'layers = ["' || coalesce(grouped.layer, 'harness') || '"]' || chr(10)
    || 'literals = ['
    -- The longest piece that is the same in all of them.
    || to_json(
        list_sort(
            list_transform(
                regexp_split_to_array(grouped.template, '<[a-z]+>'),
                LAMBDA piece: lpad(length(piece)::VARCHAR, 6, '0') || piece
            ),
            'DESC'
        )[1][7:]
    )::VARCHAR
    || ']' || chr(10)
    || 'samples = [{ text = '
    || to_json(grouped.example)::VARCHAR
    || ' }]' AS signature
FROM grouped
INNER JOIN sources ON grouped.source_id = sources.source_id
ORDER BY
    grouped.rank DESC,
    grouped.near_failures DESC,
    grouped.records DESC,
    grouped.event_id ASC
LIMIT $top
