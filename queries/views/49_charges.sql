-- title: Entries of the ledger that charge a request, and what is odd about each
-- store: table

-- Amounts by the formula: parameters in billions x seconds x GPUs x factors.
WITH priced AS (
    SELECT
        entries.event_id,
        round(
            entries.amount / nullif(
                entries.params_b * entries.seconds * coalesce(entries.gpus, 1)
                * entries.coef, 0
            ), 2
        ) AS price
    FROM entries
),

-- Sums that are joined: as windows they would sort all entries.
repeated AS (
    SELECT
        entries.request_id,
        count(*) AS charges
    FROM entries
    GROUP BY entries.request_id
),

sizes AS (
    SELECT
        entries.params_b,
        min(entries.gpus) AS gpus
    FROM entries
    GROUP BY entries.params_b
),

-- Where there is one model, and a configuration says one number of GPUs.
configured AS (
    SELECT any_value(said.gpus) AS gpus
    FROM (
        SELECT try_cast((events.attrs ->> '$.value') AS DOUBLE) AS gpus
        FROM events
        WHERE
            events.kind = 'config_setting'
            AND (events.attrs ->> '$.key') = 'num_gpus'
            AND (SELECT count(*) FROM sizes) = 1
    ) AS said
    HAVING count(DISTINCT said.gpus) = 1
),

-- A ledger may keep to a price of its own.
usual AS (
    SELECT mode(priced.price) AS price
    FROM priced
    WHERE priced.price IS NOT NULL
    HAVING
        count(*) >= 5
        AND count(*) FILTER (
            WHERE priced.price = (SELECT mode(p.price) FROM priced AS p)
        ) >= 0.8 * count(*)
),

-- What the gateway and the engine counted for the same request.
counted AS (
    SELECT
        events.request_id,
        max(events.prompt_tokens) AS prompt_tokens,
        max(events.completion_tokens) AS completion_tokens
    FROM events
    SEMI JOIN entries ON events.request_id = entries.request_id
    WHERE events.kind IN ('request_completed', 'request_finished')
    GROUP BY events.request_id
),

outcomes AS (
    SELECT
        attempts.request_id,
        min(attempts.model) AS model,
        count(*) AS attempts,
        -- Whoever gives up, or loses the end of an answer, had some of it.
        count(*) FILTER (
            WHERE
            attempts.failed AND attempts.status >= 400 AND attempts.status <> 499
        ) AS failed,
        sum(date_diff('millisecond', attempts.ts_start, attempts.ts_end))
        FILTER (WHERE NOT attempts.failed) / 1000 AS seconds
    FROM attempts
    SEMI JOIN entries ON attempts.request_id = entries.request_id
    GROUP BY attempts.request_id
),

-- What a ledger of time that shows no formula takes for a second of each model.
timed AS (
    SELECT
        entries.event_id,
        outcomes.model,
        entries.amount / nullif(coalesce(entries.seconds, outcomes.seconds), 0) AS rate,
        entries.amount / nullif(
            coalesce(
                entries.prompt_tokens + entries.completion_tokens,
                counted.prompt_tokens + counted.completion_tokens
            ), 0
        ) AS token_rate
    FROM entries
    INNER JOIN repeated ON entries.request_id = repeated.request_id
    INNER JOIN outcomes ON entries.request_id = outcomes.request_id
    LEFT JOIN counted ON entries.request_id = counted.request_id
    WHERE
        entries.params_b IS NULL
        AND repeated.charges = outcomes.attempts
        AND (
            entries.seconds IS NOT NULL
            OR (outcomes.attempts = 1 AND contains(lower(entries.unit), 'second'))
        )
),

middles AS (
    SELECT
        timed.model,
        median(timed.rate) AS rate,
        median(timed.token_rate) AS token_rate
    FROM timed
    GROUP BY timed.model
),

-- One that goes by tokens or by the request has no such rate.
rates AS (
    SELECT
        middles.model,
        middles.rate,
        middles.token_rate
    FROM middles
    INNER JOIN timed ON middles.model IS NOT DISTINCT FROM timed.model
    GROUP BY middles.model, middles.rate, middles.token_rate
    HAVING
        count(timed.rate) >= 5
        AND count(*) FILTER (
            WHERE abs(timed.rate - middles.rate) <= 0.2 * middles.rate
        ) >= 0.8 * count(timed.rate)
),

dear AS (
    SELECT timed.event_id
    FROM timed
    INNER JOIN rates ON timed.model IS NOT DISTINCT FROM rates.model
    WHERE
        (
            timed.rate > 1.9 * rates.rate
            AND coalesce(timed.token_rate > 1.9 * rates.token_rate, TRUE)
        )
        OR (
            timed.rate < rates.rate / 1.9
            AND coalesce(timed.token_rate < rates.token_rate / 1.9, TRUE)
        )
),

-- Of several charges of a request the last ones are of what was served, unless they
-- say themselves what became of it.
ordered AS (
    SELECT
        entries.event_id,
        coalesce(
            entries.status >= 400,
            row_number() OVER (
                PARTITION BY entries.request_id
                ORDER BY entries.ts DESC, entries.event_id DESC
            ) > outcomes.attempts - outcomes.failed
        ) AS wasted
    FROM entries
    INNER JOIN outcomes ON entries.request_id = outcomes.request_id
    WHERE outcomes.failed > 0
),

-- What the access records of the request say that was used, one of them of this entry.
told AS (
    SELECT
        entries.event_id,
        bool_or(abs(access.quota_amount - entries.amount) <= 0.01 * entries.amount)
            AS agrees
    FROM entries
    INNER JOIN repeated ON entries.request_id = repeated.request_id
    INNER JOIN events AS access
        ON entries.request_id = access.request_id AND access.kind = 'access'
    WHERE access.quota_amount IS NOT NULL
    GROUP BY entries.event_id
    HAVING count(*) >= any_value(repeated.charges)
),

-- A ledger of more gateways than there are logs of has much that nobody knows.
complete AS (
    SELECT
        count(*) FILTER (WHERE outcomes.request_id IS NULL) <= 0.2 * count(*)
            AS whole
    FROM entries
    LEFT JOIN outcomes ON entries.request_id = outcomes.request_id
    HAVING count(*) >= 5
),

judged AS (
    SELECT
        entries.*,
        priced.price,
        outcomes.attempts,
        coalesce(outcomes.failed, 0) AS failed,
        repeated.charges,
        coalesce(ordered.wasted, FALSE) AS wasted,
        told.agrees,
        CASE
            WHEN
                abs(
                    entries.amount
                    - entries.params_b * entries.seconds * coalesce(entries.gpus, 1)
                    * entries.coef * coalesce((SELECT usual.price FROM usual), 1)
                ) > 0.01 * entries.amount + 0.01
                THEN 'another amount than its formula'
            WHEN
                entries.gpus >= 2 * (SELECT configured.gpus FROM configured)
                THEN 'more GPUs than configured'
            WHEN
                entries.gpus >= 2 * sizes.gpus
                THEN 'more GPUs than other entries of that model'
            WHEN dear.event_id IS NOT NULL
                THEN 'another amount for its time than other entries of that model'
            WHEN
                abs(entries.prompt_tokens - counted.prompt_tokens)
                > greatest(8, 0.2 * counted.prompt_tokens)
                OR abs(entries.completion_tokens - counted.completion_tokens)
                > greatest(8, 0.2 * counted.completion_tokens)
                THEN 'other tokens than the gateway counted'
            WHEN ordered.wasted THEN 'charged, and failed'
            WHEN
                outcomes.request_id IS NULL AND (SELECT complete.whole FROM complete)
                THEN 'charged, and no log knows the request'
            WHEN
                repeated.charges > outcomes.attempts
                THEN 'charged more often than it was tried'
            WHEN entries.seconds > 2 * outcomes.seconds + 1
                THEN 'more seconds than it took'
        END AS odd
    FROM entries
    INNER JOIN repeated ON entries.request_id = repeated.request_id
    LEFT JOIN sizes ON entries.params_b IS NOT DISTINCT FROM sizes.params_b
    LEFT JOIN priced ON entries.event_id = priced.event_id
    LEFT JOIN counted ON entries.request_id = counted.request_id
    LEFT JOIN outcomes ON entries.request_id = outcomes.request_id
    LEFT JOIN dear ON entries.event_id = dear.event_id
    LEFT JOIN ordered ON entries.event_id = ordered.event_id
    LEFT JOIN told ON entries.event_id = told.event_id
),

-- The two need not speak of the same unit. What is odd anyhow does not tell.
comparable AS (
    SELECT count(*) FILTER (WHERE judged.agrees) >= 0.8 * count(*) AS alike
    FROM judged
    WHERE judged.odd IS NULL AND judged.agrees IS NOT NULL
    HAVING count(*) >= 5
)

SELECT
    judged.event_id,
    judged.request_id,
    judged.ts,
    judged.ts_error_us,
    judged.clock_status,
    judged.known_ts,
    judged.user_id,
    judged.amount,
    judged.seconds * coalesce(judged.gpus, 1) AS gpu_seconds,
    judged.attempts,
    judged.failed,
    judged.charges,
    judged.wasted,
    coalesce(
        judged.odd,
        CASE
            WHEN (SELECT comparable.alike FROM comparable) AND NOT judged.agrees
                THEN 'another amount than its access record'
        END
    ) AS odd
FROM judged
