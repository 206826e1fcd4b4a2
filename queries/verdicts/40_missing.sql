-- title: What would settle an attempt, or name what its verdict leaves open
-- store: table
WITH facts AS (
    SELECT
        failures.attempt_id,
        failures.status,
        failures.forwarded,
        failures.edge_forwarded,
        failures.tried_upstream,
        failures.engine,
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
        EXISTS(
            SELECT 1
            FROM engine_names
            WHERE engine_names.engine = failures.engine
        ) AS engine_has_log,
        EXISTS(
            SELECT 1
            FROM own
            WHERE own.attempt_id = failures.attempt_id
        ) AS has_own,
        EXISTS(
            SELECT 1
            FROM own
            WHERE
                own.attempt_id = failures.attempt_id
                AND list_contains(own.kinds, 'rate_limited')
        ) AS rate_limited
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
),

needed AS (
    SELECT
        facts.attempt_id,
        CASE
            WHEN facts.cause IS NOT NULL OR NOT facts.tried_upstream THEN NULL
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
            WHEN facts.harness_silent
                THEN 'harness: its log has no record around the attempt'
            WHEN NOT facts.has_own
                THEN 'harness: its log has no record with this id'
        END AS harness_need,
        CASE
            WHEN facts.cause IS NOT NULL THEN NULL
            WHEN NOT facts.has_error_log THEN 'harness: no error.log of the edge'
        END AS edge_need,
        CASE
            WHEN
                facts.cause = 'quota.exceeded'
                AND NOT EXISTS (
                    SELECT 1
                    FROM conditions
                    INNER JOIN ranked
                        ON
                            ranked.attempt_id = facts.attempt_id
                            AND conditions.cause = 'quota.exceeded'
                            AND conditions.scope_kind <> 'unknown pool'
                            AND list_has_any(conditions.evidence, ranked.evidence)
                )
                THEN 'quota: no balance snapshot or ledger names the pool'
            WHEN
                facts.cause IS NULL
                AND facts.status IN (402, 403, 429)
                AND facts.forwarded IS NOT TRUE
                AND NOT EXISTS (
                    SELECT 1
                    FROM balances
                    WHERE
                        balances.user_id = facts.user_id
                        AND balances.fresh
                        AND abs(date_diff('second', balances.ts, facts.ts_end))
                        <= threshold('balance_fresh_s')
                )
                THEN
                    'quota: no fresh balance of ' || coalesce(facts.user_id, 'its user')
        END AS pool_need,
        (
            SELECT
                'clock: ' || string_agg(DISTINCT conditions.scope, ', ')
                || ' has trouble that no clock ties to this attempt'
            FROM conditions
            WHERE
                conditions.clock_status = 'untied'
                AND conditions.role = 'root'
                AND facts.cause IS NULL
        ) AS clock_need
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
