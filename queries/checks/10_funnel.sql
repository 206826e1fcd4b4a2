-- title: The layers in order, check by check: pass, fail or no evidence
WITH chosen AS (
    SELECT
        $since AS first_ts,
        $until AS last_ts
),

-- The last check of a layer takes the causes that the others leave; `ask` is what to
-- look at next.
checks AS (
    SELECT
        listed.layer,
        listed.number,
        listed.title,
        listed.causes,
        listed.logs,
        listed.ask
    FROM (
        VALUES
        (
            'model', 1, 'engines are alive',
            '(engine_dead|engine_restart_loop|worker_died|segfault|cuda_oom'
            || '|illegal_.*|host_oom_killed|watchdog_kill|detokenizer_failure'
            || '|poison_request|device_assert|nccl_timeout|shm_exhausted)',
            ['model'], 'the engine''s log before its death'
        ),
        (
            'model', 2, 'models load',
            '(weights_.*|architecture_mismatch|tokenizer_mismatch|not_ready'
            || '|dependency_missing|quantization_unsupported|startup_failure'
            || '|port_in_use|backend_unsupported|stale_weights)',
            ['model'], 'the first error of the engine''s start'
        ),
        (
            'model', 3, 'GPUs are healthy', '(gpu_.*)',
            ['kernel', 'gpu'], 'the kernel''s log of the host'
        ),
        (
            'model', 4, 'answers are in time and whole', NULL,
            ['model'], 'the engine''s statistics, queue and cache'
        ),
        (
            'harness', 5, 'requests are let in',
            '(concurrency_limit|edge_limit|queue_full|hung|context_overflow)',
            ['harness'], 'the limits in force, and what was in flight'
        ),
        (
            'harness', 6, 'plugins answer', '(plugin_failed)',
            ['gateway'], 'what the plugin depends on'
        ),
        (
            'harness', 7, 'engines are reached',
            '(tls_handshake|dns_failure|connect_refused|no_live_upstream'
            || '|upstream_.*|routing|provider_limit)',
            ['harness'], 'addresses, certificates and time-outs of the upstreams'
        ),
        (
            'harness', 8, 'configuration is as expected', NULL,
            ['gateway', 'config'], 'what was changed before the first failure'
        ),
        (
            'quota', 9, 'requests keep to their rates',
            '(burst_limit|request_rate_limit|token_rate_limit)',
            ['harness', 'quota'], 'who sends the most'
        ),
        (
            'quota', 10, 'pools have something left', NULL,
            ['quota'], 'the balances, user before project before tenant'
        )
    ) AS listed (layer, number, title, causes, logs, ask)
),

lasts AS (
    SELECT
        layer,
        max(number) AS number
    FROM checks
    GROUP BY layer
),

failed AS (
    SELECT
        verdicts.layer,
        verdicts.cause,
        verdicts.strength,
        verdicts.attempt_id,
        verdicts.request_id,
        attempts.ts_start AS ts
    FROM verdicts
    INNER JOIN attempts ON verdicts.attempt_id = attempts.attempt_id
    CROSS JOIN chosen
    WHERE
        attempts.ts_start <= chosen.last_ts
        AND coalesce(attempts.ts_end, attempts.ts_start) >= chosen.first_ts
),

late AS (
    SELECT count(*) AS attempts
    FROM failed
    WHERE failed.cause = 'harness.upstream_timeout'
),

troubles AS (
    SELECT
        conditions.layer,
        conditions.cause,
        conditions.scope_kind,
        conditions.scope,
        conditions.ts_start
    FROM conditions
    CROSS JOIN chosen
    WHERE
        conditions.role = 'root'
        AND conditions.ts_start <= chosen.last_ts
        AND coalesce(conditions.ts_end, TIMESTAMP 'infinity') >= chosen.first_ts
        AND conditions.cause NOT IN ('quota.retry_waste', 'quota.metering_mismatch')
),

-- What a log tells of a window it must reach into. Configurations have no time, and by
-- an untied clock it can be any zone's.
spans AS (
    SELECT
        events.source_id,
        min(events.ts) AS first_ts,
        max(events.ts) AS last_ts,
        bool_or(
            events.kind IN (
                'request_accepted', 'request_forwarded', 'request_completed',
                'request_rejected', 'request_failed', 'plugin_failed',
                'plugin_connected', 'plugin_connect_failed', 'plugin_probe_ok',
                'plugin_probe_failed'
            )
        ) AS is_gateway
    FROM events
    GROUP BY events.source_id
),

reaching AS (
    SELECT
        -- Limits that are written down say nothing of who kept to them.
        CASE WHEN spans.first_ts IS NOT NULL THEN sources.layer END AS layer,
        sources.component,
        spans.is_gateway
    FROM spans
    INNER JOIN sources ON spans.source_id = sources.source_id
    LEFT JOIN clocks ON sources.clock_id = clocks.clock_id AND clocks.segment = 0
    CROSS JOIN chosen
    WHERE
        coalesce(spans.last_ts, TIMESTAMP 'infinity')
        + to_days(CASE WHEN clocks.status = 'untied' THEN 1 ELSE 0 END)
        >= chosen.first_ts
        AND coalesce(spans.first_ts, TIMESTAMP '-infinity')
        - to_days(CASE WHEN clocks.status = 'untied' THEN 1 ELSE 0 END)
        <= chosen.last_ts
),

seen AS (
    SELECT
        list_concat(
            coalesce(list(reaching.layer), []),
            coalesce(list(reaching.component), []),
            coalesce(list('gateway') FILTER (WHERE reaching.is_gateway), [])
        ) AS names
    FROM reaching
),

sorted_failures AS (
    SELECT
        failed.*,
        coalesce(min(checks.number), max(lasts.number)) AS number
    FROM failed
    INNER JOIN lasts ON failed.layer = lasts.layer
    LEFT JOIN checks
        ON
            failed.layer = checks.layer
            AND regexp_full_match(split_part(failed.cause, '.', 2), checks.causes)
    GROUP BY ALL
),

sorted_troubles AS (
    SELECT
        troubles.*,
        coalesce(min(checks.number), max(lasts.number)) AS number
    FROM troubles
    INNER JOIN lasts ON troubles.layer = lasts.layer
    LEFT JOIN checks
        ON
            troubles.layer = checks.layer
            AND regexp_full_match(split_part(troubles.cause, '.', 2), checks.causes)
    GROUP BY ALL
),

hit AS (
    SELECT
        number,
        count(DISTINCT attempt_id) AS attempts,
        list_sort(list(DISTINCT cause)) AS causes,
        arg_min(request_id, (ts, attempt_id)) AS example,
        min(ts) AS ts
    FROM sorted_failures
    GROUP BY number
),

-- An engine that died of its GPU is not alive either.
listed_troubles AS (
    SELECT *
    FROM sorted_troubles
    UNION ALL
    SELECT sorted_troubles.* REPLACE (1 AS number)
    FROM sorted_troubles
    WHERE sorted_troubles.number = 3 AND sorted_troubles.scope_kind = 'engine'
),

shown AS (
    SELECT
        number,
        count(*) AS conditions,
        list_sort(list(DISTINCT cause)) AS causes,
        list_sort(list(DISTINCT coalesce(scope_kind || ' ' || scope, scope)))
            AS scopes,
        min(ts_start) AS ts
    FROM listed_troubles
    GROUP BY number
)

SELECT
    checks.number,
    checks.layer,
    checks.title,
    CASE
        WHEN hit.attempts > 0 OR shown.conditions > 0 THEN 'fail'
        -- They were not in time, and nothing says whether for the engine.
        WHEN checks.number = 4 AND late.attempts > 0 THEN 'no evidence'
        WHEN list_has_any(checks.logs, seen.names) THEN 'pass'
        ELSE 'no evidence'
    END AS result,
    coalesce(hit.attempts, 0) AS failed_attempts,
    list_sort(list_distinct(
        list_concat(coalesce(hit.causes, []), coalesce(shown.causes, []))
    )) AS causes,
    coalesce(shown.scopes, []) AS scopes,
    least(hit.ts, shown.ts) AS first_ts,
    hit.example,
    checks.ask
FROM checks
CROSS JOIN seen
CROSS JOIN late
LEFT JOIN hit ON checks.number = hit.number
LEFT JOIN shown ON checks.number = shown.number
ORDER BY checks.number
