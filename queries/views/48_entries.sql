-- title: Entries of the ledger that charge a request, as they stand there
-- store: table
WITH charged AS (
    SELECT
        events.event_id,
        events.request_id,
        events.ts,
        coalesce(events.ts_error_us, events.ts_precision_us) AS ts_error_us,
        coalesce(clocks.status, 'untied') AS clock_status,
        -- Charges alone tie no clock; a stamp with a zone is right to a few seconds.
        CASE
            WHEN clocks.status <> 'untied' THEN events.ts
            WHEN sources.zoned THEN events.ts_raw
        END AS known_ts,
        coalesce(events.user_id, '?') AS user_id,
        events.quota_amount AS amount,
        events.prompt_tokens,
        events.completion_tokens,
        events.status,
        events.duration_ms,
        -- One list: each path alone would read the text anew.
        (
            events.attrs ->> [
                '$.gpus', '$.num_gpus', '$.params_b', '$.seconds', '$.concurrency',
                '$.coef', '$.hardware_factor', '$.unit'
            ]
        ) AS said
    FROM events
    INNER JOIN sources ON events.source_id = sources.source_id
    LEFT JOIN clocks
        ON events.clock_id = clocks.clock_id AND clocks.segment = 0
    ANTI JOIN rebooked ON events.event_id = rebooked.event_id
    WHERE events.kind = 'quota_charge' AND events.request_id IS NOT NULL
)

SELECT
    charged.event_id,
    charged.request_id,
    charged.ts,
    charged.ts_error_us,
    charged.clock_status,
    charged.known_ts,
    charged.user_id,
    charged.amount,
    charged.prompt_tokens,
    charged.completion_tokens,
    charged.status,
    coalesce(
        try_cast(charged.said[1] AS DOUBLE), try_cast(charged.said[2] AS DOUBLE)
    ) AS gpus,
    try_cast(charged.said[3] AS DOUBLE) AS params_b,
    coalesce(try_cast(charged.said[4] AS DOUBLE), charged.duration_ms / 1000)
        AS seconds,
    coalesce(try_cast(charged.said[5] AS DOUBLE), 1)
    * coalesce(
        try_cast(charged.said[6] AS DOUBLE), try_cast(charged.said[7] AS DOUBLE), 1
    ) AS coef,
    charged.said[8] AS unit
FROM charged
