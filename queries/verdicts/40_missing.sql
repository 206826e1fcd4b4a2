-- title: What would settle an attempt, or name what its verdict leaves open
-- store: table
WITH placed AS (
    SELECT unnest(conditions.evidence) AS event_id
    FROM conditions
    WHERE
        conditions.cause = 'quota.exceeded'
        AND conditions.scope_kind <> 'unknown pool'
),

cited AS (
    SELECT
        ranked.attempt_id,
        unnest(ranked.evidence) AS event_id
    FROM ranked
    SEMI JOIN (
        SELECT ranked.attempt_id
        FROM ranked
        WHERE ranked.place = 1 AND ranked.cause = 'quota.exceeded'
    ) AS refused ON ranked.attempt_id = refused.attempt_id
),

with_pool AS (
    SELECT DISTINCT cited.attempt_id
    FROM cited
    SEMI JOIN placed ON cited.event_id = placed.event_id
),

words AS (
    SELECT
        own.attempt_id,
        bool_or(list_contains(own.kinds, 'rate_limited')) AS rate_limited
    FROM own
    GROUP BY own.attempt_id
),

asked AS (
    SELECT
        failures.attempt_id,
        failures.user_id,
        failures.ts_end
    FROM failures
    ANTI JOIN ranked ON failures.attempt_id = ranked.attempt_id
    WHERE
        failures.status IN (402, 403, 429)
        AND failures.forwarded IS NOT TRUE
),

with_balance AS (
    SELECT DISTINCT asked.attempt_id
    FROM asked
    INNER JOIN balances
        ON
            asked.user_id = balances.user_id
            AND balances.fresh
            AND abs(date_diff('second', balances.ts, asked.ts_end))
            <= threshold('balance_fresh_s')
),

untied AS (
    SELECT string_agg(DISTINCT conditions.scope, ', ') AS scopes
    FROM conditions
    WHERE conditions.clock_status = 'untied' AND conditions.role = 'root'
),

facts AS (
    SELECT
        failures.attempt_id,
        failures.status,
        failures.forwarded,
        failures.edge_forwarded,
        failures.adrift,
        failures.tried_upstream,
        failures.engine,
        uncovered.event_id IS NOT NULL AS uncovered,
        failures.user_id,
        failures.ts_end,
        ranked.cause,
        model_silence.silent AS model_silent,
        model_silence.ts_before AS model_before,
        model_silence.ts_after AS model_after,
        harness_silence.silent AS harness_silent,
        logs.has_model,
        logs.has_harness,
        logs.has_error_log,
        coalesce(
            failures.engine IN (SELECT engine_names.engine FROM engine_names),
            FALSE
        ) AS engine_has_log,
        words.attempt_id IS NOT NULL AS has_own,
        coalesce(words.rate_limited, FALSE) AS rate_limited,
        with_pool.attempt_id IS NOT NULL AS has_pool,
        asked.attempt_id IS NOT NULL AND with_balance.attempt_id IS NULL
            AS lacks_balance,
        untied.scopes
    FROM failures
    CROSS JOIN logs
    LEFT JOIN ranked
        ON failures.attempt_id = ranked.attempt_id AND ranked.place = 1
    LEFT JOIN silences AS model_silence
        ON
            failures.attempt_id = model_silence.attempt_id
            AND model_silence.layer = 'model'
    LEFT JOIN silences AS harness_silence
        ON
            failures.attempt_id = harness_silence.attempt_id
            AND harness_silence.layer = 'harness'
    CROSS JOIN untied
    LEFT JOIN words ON failures.attempt_id = words.attempt_id
    LEFT JOIN with_pool ON failures.attempt_id = with_pool.attempt_id
    LEFT JOIN asked ON failures.attempt_id = asked.attempt_id
    LEFT JOIN with_balance ON failures.attempt_id = with_balance.attempt_id
    LEFT JOIN uncovered ON failures.attempt_id = uncovered.event_id
),

needed AS (
    SELECT
        facts.attempt_id,
        CASE
            WHEN facts.cause IS NOT NULL THEN NULL
            WHEN facts.uncovered AND facts.engine IS NOT NULL
                THEN
                    'model: its exchange has no id, and no record of ' || facts.engine
                    || ' at that moment tells why'
            WHEN facts.uncovered AND NOT facts.has_model
                THEN 'model: no model log in the case'
            WHEN facts.uncovered OR NOT facts.tried_upstream THEN NULL
            WHEN facts.engine IS NOT NULL AND NOT facts.engine_has_log
                THEN 'model: no log of ' || facts.engine
            WHEN NOT facts.has_model THEN 'model: no model log in the case'
            WHEN facts.model_silent
                THEN
                    'model: no record of the model layer between '
                    || coalesce(strftime(facts.model_before, '%H:%M:%S'), 'the start')
                    || ' and '
                    || coalesce(strftime(facts.model_after, '%H:%M:%S'), 'the end')
        END AS model_need,
        CASE
            WHEN facts.cause IS NOT NULL THEN NULL
            WHEN NOT facts.has_harness THEN 'harness: no harness log in the case'
            WHEN facts.rate_limited
                THEN 'harness: its record does not say which limit; no limiter does'
            WHEN facts.uncovered
                THEN 'harness: its exchange has no id, and no record beside it fits'
            WHEN facts.harness_silent
                THEN 'harness: its log has no record around the attempt'
            WHEN NOT facts.has_own
                THEN 'harness: its log has no record with this id'
        END AS harness_need,
        CASE
            WHEN facts.cause IS NOT NULL THEN NULL
            WHEN facts.uncovered
                THEN 'harness: no log of an edge, which would give each request an id'
            WHEN NOT facts.has_error_log THEN 'harness: no error.log of the edge'
        END AS edge_need,
        CASE
            WHEN facts.cause = 'quota.exceeded' AND NOT facts.has_pool
                THEN 'quota: no balance snapshot or ledger names the pool'
            WHEN facts.lacks_balance
                THEN
                    'quota: no fresh balance of ' || coalesce(facts.user_id, 'its user')
        END AS pool_need,
        CASE
            WHEN
                facts.cause IS NULL
                AND facts.adrift
                AND EXISTS (
                    SELECT 1
                    FROM conditions
                    WHERE conditions.role = 'root'
                )
                THEN 'clock: nothing ties that of its own log to any other'
            WHEN facts.cause IS NULL
                THEN
                    'clock: ' || facts.scopes
                    || ' has trouble that no clock ties to this attempt'
        END AS clock_need
    FROM facts
)

SELECT
    needed.attempt_id,
    list_filter(
        [
            needed.model_need,
            needed.harness_need,
            needed.edge_need,
            needed.pool_need,
            needed.clock_need
        ],
        LAMBDA need: need IS NOT NULL
    ) AS missing
FROM needed
