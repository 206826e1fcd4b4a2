-- title: The records that most verdicts of each cause cite
-- title zh: 各原因的判定最常引用的记录
WITH cited AS (
    SELECT
        verdicts.layer,
        verdicts.cause,
        unnest(verdicts.evidence) AS event_id
    FROM verdicts
    WHERE verdicts.layer <> 'undetermined'
),

counted AS (
    SELECT
        cited.layer,
        cited.cause,
        cited.event_id,
        count(*) AS verdicts,
        sum(count(*)) OVER (PARTITION BY cited.cause) AS weight
    FROM cited
    GROUP BY cited.layer, cited.cause, cited.event_id
),

chosen AS (
    SELECT counted.*
    FROM counted
    QUALIFY
        row_number() OVER (
            PARTITION BY counted.cause
            ORDER BY counted.verdicts DESC, counted.event_id ASC
        ) <= 4
)

SELECT
    chosen.layer,
    chosen.cause,
    chosen.verdicts,
    coalesce(sources.member, sources.path) AS path,
    events.line,
    events.ts,
    events.ts_raw,
    events.ts_error_us,
    events.component,
    events.kind,
    events.message
FROM chosen
INNER JOIN events ON chosen.event_id = events.event_id
INNER JOIN sources ON events.source_id = sources.source_id
ORDER BY
    chosen.weight DESC, chosen.cause ASC, events.ts ASC NULLS LAST, events.event_id ASC
LIMIT 80
