-- title: What every failed attempt is judged to be
-- store: table
WITH losers AS (
    SELECT
        ranked.attempt_id,
        list(DISTINCT ranked.cause ORDER BY ranked.cause) AS causes
    FROM ranked
    INNER JOIN ranked AS first
        ON ranked.attempt_id = first.attempt_id AND first.place = 1
    WHERE
        ranked.place > 1
        AND ranked.role = 'root'
        AND ranked.cause <> first.cause
    GROUP BY ranked.attempt_id
),

-- All evidence for the cause that won, whichever rule brought it.
support AS (
    SELECT
        ranked.attempt_id,
        flatten(list(ranked.evidence)) AS evidence,
        min(ranked.condition_id) AS condition_id
    FROM ranked
    INNER JOIN ranked AS first
        ON
            ranked.attempt_id = first.attempt_id
            AND first.place = 1
            AND ranked.cause = first.cause
    WHERE ranked.findings > 1
    GROUP BY ranked.attempt_id
    UNION ALL
    -- Most attempts have one finding, and nothing to gather.
    SELECT
        ranked.attempt_id,
        ranked.evidence,
        ranked.condition_id
    FROM ranked
    WHERE ranked.findings = 1
)

SELECT
    failures.attempt_id,
    failures.request_id,
    failures.attempt,
    coalesce(ranked.layer, 'undetermined') AS layer,
    coalesce(ranked.cause, 'undetermined') AS cause,
    coalesce(ranked.strength, 'undetermined') AS strength,
    coalesce(ranked.rule, 'none') AS rule,
    coalesce(
        ranked.because,
        'status ' || coalesce(failures.status::VARCHAR, '?')
        || ', and no record explains it'
        -- Why it is not what it looks like: the limit was known, and far.
        || CASE
            WHEN refusals.most_in_flight < refusals.allowed
                THEN
                    '; at most ' || refusals.most_in_flight || ' of '
                    || refusals.allowed::BIGINT || ' allowed were in flight'
            ELSE ''
        END
    ) AS because,
    CASE
        WHEN support.evidence IS NULL THEN [failures.attempt_id]
        -- Most evidence is one record, and there is nothing to put in order.
        WHEN len(support.evidence) = 1 THEN support.evidence
        ELSE list_sort(list_distinct(support.evidence))[1:40]
    END AS evidence,
    coalesce(losers.causes, []) AS contributing,
    list_filter(
        coalesce(cleared.cleared, []),
        LAMBDA fact: NOT starts_with(fact, coalesce(ranked.layer, '') || ':')
    ) AS cleared,
    coalesce(missing.missing, []) AS missing,
    coalesce(ranked.clock_sensitive, FALSE) AS clock_sensitive,
    support.condition_id
FROM failures
LEFT JOIN ranked ON failures.attempt_id = ranked.attempt_id AND ranked.place = 1
LEFT JOIN refusals ON failures.attempt_id = refusals.attempt_id
LEFT JOIN losers ON failures.attempt_id = losers.attempt_id
LEFT JOIN support ON failures.attempt_id = support.attempt_id
LEFT JOIN cleared ON failures.attempt_id = cleared.attempt_id
LEFT JOIN missing ON failures.attempt_id = missing.attempt_id
