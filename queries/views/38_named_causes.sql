-- title: What a record of an engine's trouble names as its reason, most telling first
SELECT
    named.kind,
    named.cause,
    named.rank
FROM (
    VALUES
    ('gpu_ecc', 'model.gpu_ecc', 10),
    ('gpu_xid', 'model.gpu_xid', 20),
    ('gpu_lost', 'model.gpu_lost', 30),
    ('host_oom_kill', 'model.host_oom_killed', 40),
    ('illegal_instruction', 'model.illegal_instruction', 50),
    ('quantization_unsupported', 'model.quantization_unsupported', 60),
    ('tokenizer_mismatch', 'model.tokenizer_mismatch', 70),
    ('architecture_mismatch', 'model.architecture_mismatch', 80),
    ('dependency_missing', 'model.dependency_missing', 90),
    ('weights_missing', 'model.weights_missing', 100),
    ('weights_corrupt', 'model.weights_corrupt', 110),
    ('shm_exhausted', 'model.shm_exhausted', 120),
    ('port_in_use', 'model.port_in_use', 130),
    ('cuda_oom', 'model.cuda_oom', 140),
    ('kv_cache_exhausted', 'model.kv_cache_exhausted', 145),
    ('device_assert', 'model.device_assert', 150),
    ('illegal_memory_access', 'model.illegal_memory_access', 160),
    ('nccl_timeout', 'model.nccl_timeout', 170),
    ('segfault', 'model.segfault', 180),
    ('weights_forbidden', 'model.weights_forbidden', 182),
    ('backend_unsupported', 'model.backend_unsupported', 184),
    ('detokenizer_failure', 'model.detokenizer_failure', 186),
    ('nan_death', 'model.nan_output', 188),
    ('hung', 'model.hung', 190),
    ('watchdog_kill', 'model.watchdog_kill', 200),
    ('worker_died', 'model.worker_died', 300)
) AS named (kind, cause, rank)
