-- title: How many requests the machine can run at once, against the configured limit
-- title zh: 机器实际可并发的请求数与配置上限
-- topic: load
-- answers: Does the harness let in more than memory, multiprocessors and worker threads can run?
-- column bound: free memory, multiprocessors, worker threads; the least one is the real concurrency
-- column at_once: requests that it lets run at once; NULL: no log or setting tells
-- column least: whether it is the least of those that are known
-- column configured: max_concurrent_requests of the harness
-- column fits: whether that is not above this bound
-- column how: what it is worked out from
-- column event_id: a record that it rests on; NULL: --config alone
WITH named AS (
    SELECT
        names.what,
        names.key,
        names.place
    FROM (
        VALUES
        ('configured', 'max_concurrent_requests', 1),
        ('worker threads', 'worker_threads', 1),
        ('worker threads', 'workers', 2),
        ('worker threads', 'max_workers', 3),
        ('instance', 'instance_memory_mib', 1),
        ('instance', 'memory_per_instance_mib', 2),
        ('multiprocessors', 'multiprocessors', 1),
        ('multiprocessors', 'sm_count', 2)
    ) AS names (what, key, place)
),

-- What a person states goes before what is logged, and that by the usual name.
stated AS (
    SELECT
        named.what,
        settings.key,
        settings.number,
        settings.event_id
    FROM settings
    INNER JOIN named ON settings.key = named.key
    WHERE settings.number > 0
    QUALIFY
        row_number() OVER (
            PARTITION BY named.what
            ORDER BY settings.event_id IS NOT NULL, named.place
        ) = 1
),

samples AS (
    SELECT
        events.event_id,
        events.clock_id || ' ' || (events.attrs ->> '$.gpu') AS gpu,
        (events.attrs ->> '$.gpu_model') AS gpu_model,
        try_cast((events.attrs ->> '$.memory_total_mib') AS DOUBLE)
        - try_cast((events.attrs ->> '$.memory_mib') AS DOUBLE) AS free_mib
    FROM events
    WHERE events.kind = 'gpu_sample' AND (events.attrs ->> '$.gpu') IS NOT NULL
),

-- The least that was free while it worked tells nothing: what ran took the rest.
gpus AS (
    SELECT
        samples.gpu,
        max(samples.free_mib) AS free_mib,
        max(samples.gpu_model) AS gpu_model,
        min(samples.event_id) AS event_id
    FROM samples
    GROUP BY samples.gpu
),

products AS (
    SELECT
        listed.product,
        listed.multiprocessors
    FROM (
        VALUES
        ('B200', 148), ('H200', 132), ('H100 PCIe', 114), ('H100', 132), ('H800', 132),
        ('H20', 78), ('A100', 108), ('A800', 108), ('A40', 84), ('A30', 56),
        ('A10G', 80), ('A10', 72), ('L40', 142), ('L20', 92), ('L4', 58), ('V100', 80),
        ('T4', 40), ('RTX 4090', 128), ('RTX 3090', 82)
    ) AS listed (product, multiprocessors)
),

-- The longest name that fits: an H200 is no H20.
cards AS (
    SELECT
        gpus.gpu,
        gpus.event_id,
        arg_max(
            products.multiprocessors, (length(products.product), products.product)
        ) AS multiprocessors
    FROM gpus
    INNER JOIN products
        ON
            regexp_matches(
                gpus.gpu_model, '\b' || products.product || '(?:[^0-9A-Z]|S?\z)'
            )
    GROUP BY gpus.gpu, gpus.event_id
),

threads AS (
    SELECT
        events.ts_raw,
        events.clock_id,
        sum(try_cast((events.attrs ->> '$.value') AS DOUBLE)) AS number,
        min(events.event_id) AS event_id
    FROM events
    WHERE
        events.kind = 'metric'
        AND (events.attrs ->> '$.name') = 'harness_worker_threads'
    GROUP BY events.ts_raw, events.clock_id
),

memory AS (
    SELECT
        sum(floor(gpus.free_mib / instances.number)) AS at_once,
        format(
            '{:.0f} MiB free on {} GPUs, {:.0f} MiB an instance',
            sum(gpus.free_mib), count(*), any_value(instances.number)
        ) AS how,
        min(gpus.event_id) AS event_id
    FROM gpus
    INNER JOIN stated AS instances ON instances.what = 'instance'
    WHERE gpus.free_mib IS NOT NULL
    HAVING count(*) > 0
),

halves AS (
    SELECT
        floor(stated.number / 2) AS at_once,
        format('half of {} = {:.0f}', stated.key, stated.number) AS how,
        stated.event_id
    FROM stated
    WHERE stated.what = 'multiprocessors'
    UNION ALL
    SELECT
        floor(sum(cards.multiprocessors) / 2) AS at_once,
        format(
            'half of {} multiprocessors of {} GPUs',
            sum(cards.multiprocessors), count(*)
        ) AS how,
        min(cards.event_id) AS event_id
    FROM cards
    WHERE NOT EXISTS (FROM stated WHERE stated.what = 'multiprocessors')
    HAVING count(*) > 0
),

workers AS (
    SELECT
        stated.number AS at_once,
        format('{} = {:.0f}', stated.key, stated.number) AS how,
        stated.event_id
    FROM stated
    WHERE stated.what = 'worker threads'
    UNION ALL
    SELECT
        max(threads.number) AS at_once,
        format('harness_worker_threads, {:.0f} in all', max(threads.number)) AS how,
        arg_max(threads.event_id, (threads.number, threads.event_id)) AS event_id
    FROM threads
    WHERE NOT EXISTS (FROM stated WHERE stated.what = 'worker threads')
    HAVING max(threads.number) > 0
),

bounds AS (
    SELECT
        names.bound,
        names.number,
        coalesce(memory.at_once, halves.at_once, workers.at_once)::BIGINT AS at_once,
        coalesce(memory.how, halves.how, workers.how) AS how,
        coalesce(memory.event_id, halves.event_id, workers.event_id) AS event_id
    FROM (
        VALUES (1, 'free memory'), (2, 'multiprocessors'), (3, 'worker threads')
    ) AS names (number, bound)
    LEFT JOIN memory ON names.number = 1
    LEFT JOIN halves ON names.number = 2
    LEFT JOIN workers ON names.number = 3
)

SELECT
    bounds.bound,
    bounds.at_once,
    bounds.at_once = min(bounds.at_once) OVER () AS least,
    limits.number::BIGINT AS configured,
    limits.number <= bounds.at_once AS fits,
    bounds.how,
    bounds.event_id
FROM bounds
LEFT JOIN stated AS limits ON limits.what = 'configured'
WHERE EXISTS (FROM bounds AS known WHERE known.at_once IS NOT NULL)
ORDER BY bounds.number
