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
            -- The one that says how long it took comes first.
            AND (twin.duration_ms IS NULL, twin.source_id)
            > (first.duration_ms IS NULL, first.source_id)
            AND abs(date_diff('microsecond', twin.ts_end, first.ts_end))
            <= greatest(twin.ts_error_us, first.ts_error_us) + 20000
            AND coalesce(abs(twin.duration_ms - first.duration_ms) <= 2, TRUE)
    INNER JOIN logs AS twin_log ON twin.source_id = twin_log.source_id
    INNER JOIN logs AS first_log ON first.source_id = first_log.source_id
    WHERE twin_log.log_set <> first_log.log_set
    GROUP BY twin.event_id
),

-- ... or in one log, when what ships it sends a line again. Retries of one client follow
-- one another: what took longer than its stamp is coarse is no retry if all is equal, nor
-- what stands behind later ones.
equals AS (
    SELECT
        repeats.event_id,
        repeats.source_id,
        repeats.ts_end,
        repeats.ts_precision_us,
        repeats.status,
        repeats.duration_ms,
        logs.log_set,
        repeats.duration_ms * 1000 > repeats.ts_precision_us AS longer,
        min(repeats.event_id) OVER (
            PARTITION BY
                logs.log_set, repeats.request_id, repeats.ts_end, repeats.status,
                repeats.duration_ms, repeats.client, repeats.message, repeats.place,
                repeats.upstream_header_ms, repeats.upstream_addr,
                repeats.bytes_sent, repeats.attrs
        ) AS first_event_id
    FROM repeats
    INNER JOIN logs ON repeats.source_id = logs.source_id
),

tried AS (
    SELECT equals.*
    FROM equals
    WHERE equals.event_id <> equals.first_event_id
    QUALIFY
        row_number() OVER (PARTITION BY equals.log_set ORDER BY equals.event_id) <= 100
),

-- Two that were under way together can run into one time-out: how long that is, others
-- that failed show as well.
doubtful AS (
    SELECT DISTINCT equals.duration_ms
    FROM equals
    WHERE
        equals.event_id <> equals.first_event_id
        AND equals.longer
        AND equals.status >= 400
),

timeouts AS (
    SELECT access.duration_ms
    FROM access
    SEMI JOIN doubtful ON access.duration_ms = doubtful.duration_ms
    WHERE access.status >= 400
    GROUP BY access.duration_ms
    HAVING min(access.request_id) <> max(access.request_id)
),

shipped AS (
    SELECT equals.log_set
    FROM equals
    WHERE
        equals.event_id <> equals.first_event_id
        AND equals.longer
        AND (
            equals.status < 400
            OR equals.duration_ms NOT IN (SELECT timeouts.duration_ms FROM timeouts)
        )
    UNION
    SELECT tried.log_set
    FROM tried
    INNER JOIN access
        ON
            tried.source_id = access.source_id
            AND access.event_id BETWEEN tried.first_event_id AND tried.event_id
            AND access.ts_end > tried.ts_end + micros(tried.ts_precision_us)
),

again AS (
    SELECT
        equals.event_id,
        equals.first_event_id
    FROM equals
    WHERE
        equals.event_id <> equals.first_event_id
        AND equals.log_set IN (SELECT shipped.log_set FROM shipped)
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
),

-- ... or what a proxy behind another one saw of it, within the time of the outer one.
inside AS (
    SELECT
        deeper.event_id,
        deeper_log.log_set || '|' || deeper.place AS place,
        outer_log.log_set || '|' || outermost.place AS outer_place,
        outermost.event_id AS first_event_id,
        outermost.duration_ms
    FROM repeats AS deeper
    INNER JOIN repeats AS outermost
        ON
            deeper.request_id = outermost.request_id
            AND (deeper.source_id, deeper.place)
            <> (outermost.source_id, outermost.place)
            AND (deeper.duration_ms, -deeper.event_id)
            < (outermost.duration_ms, -outermost.event_id)
            AND deeper.ts_start
            >= outermost.ts_start
            - micros(deeper.ts_error_us + outermost.ts_error_us + 20000)
            AND deeper.ts_end
            <= outermost.ts_end
            + micros(deeper.ts_error_us + outermost.ts_error_us + 20000)
    INNER JOIN logs AS deeper_log ON deeper.source_id = deeper_log.source_id
    INNER JOIN logs AS outer_log ON outermost.source_id = outer_log.source_id
    WHERE
        deeper_log.log_set <> outer_log.log_set
        OR deeper.place <> outermost.place
),

-- A gateway's log has more than its exchanges.
exchanges AS (
    SELECT
        logs.log_set || '|' || access.place AS place,
        count(*) AS logged
    FROM access
    INNER JOIN logs ON access.source_id = logs.source_id
    WHERE (SELECT count(*) FROM inside) > 0
    GROUP BY logs.log_set || '|' || access.place
),

-- Of two edges side by side one sees few of the other's requests.
behind AS (
    SELECT
        inside.place,
        inside.outer_place
    FROM inside
    INNER JOIN exchanges ON inside.place = exchanges.place
    GROUP BY inside.place, inside.outer_place
    HAVING count(DISTINCT inside.event_id) >= 0.5 * max(exchanges.logged)
),

nested AS (
    SELECT
        inside.event_id,
        arg_max(inside.first_event_id, (inside.duration_ms, -inside.first_event_id))
            AS first_event_id
    FROM inside
    SEMI JOIN behind
        ON
            inside.place = behind.place
            AND inside.outer_place = behind.outer_place
    ANTI JOIN by_id ON inside.event_id = by_id.event_id
    ANTI JOIN again ON inside.event_id = again.event_id
    GROUP BY inside.event_id
)

SELECT
    by_id.event_id,
    by_id.first_event_id,
    FALSE AS nested
FROM by_id
ANTI JOIN again ON by_id.event_id = again.event_id
UNION ALL
SELECT
    again.event_id,
    coalesce(by_id.first_event_id, nested.first_event_id, again.first_event_id)
        AS first_event_id,
    nested.event_id IS NOT NULL AS nested
FROM again
LEFT JOIN by_id ON again.first_event_id = by_id.event_id
LEFT JOIN nested ON again.first_event_id = nested.event_id
UNION ALL
SELECT
    by_shape.event_id,
    by_shape.first_event_id,
    FALSE AS nested
FROM by_shape
UNION ALL
SELECT
    nested.event_id,
    coalesce(by_id.first_event_id, nested.first_event_id) AS first_event_id,
    TRUE AS nested
FROM nested
LEFT JOIN by_id ON nested.first_event_id = by_id.event_id
UNION ALL
SELECT
    relays.event_id,
    relays.first_event_id,
    TRUE AS nested
FROM relays
WHERE relays.again
