"""The incident `engine_death`: CUDA out of memory under load."""

from datetime import UTC, datetime

from programs import Clock, Engine, Log, Request, Rules, User, model_line
from stack import Stack
from traffic import (
    arrivals,
    clock_truth,
    config,
    never,
    people,
    snapshots,
    statistics,
    truth_lines,
)

OOM = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.64 GiB. GPU 0 has a total capacity of 79.25 GiB "
    "of which 1.87 GiB is free. Including non-PyTorch memory, this process has 77.37 GiB memory in use. Of the allocated "
    "memory 73.90 GiB is allocated by PyTorch, with 312.00 MiB allocated in private pools (e.g., CUDA Graphs), and 1.42 GiB "
    "is reserved by PyTorch but unallocated. If reserved but unallocated memory is large try setting "
    "PYTORCH_CUDA_ALLOC_CONF=expandable_segments:True to avoid fragmentation."
)
SITE = "/usr/local/lib/python3.12/dist-packages"
FATAL = f"""EngineCore encountered a fatal error.
Traceback (most recent call last):
  File "{SITE}/vllm/v1/engine/core.py", line 833, in run_engine_core
    engine_core.run_busy_loop()
  File "{SITE}/vllm/v1/engine/core.py", line 860, in run_busy_loop
    self._process_engine_step()
  File "{SITE}/vllm/v1/engine/core.py", line 889, in _process_engine_step
    outputs, model_executed = self.step_fn()
                              ^^^^^^^^^^^^^^
  File "{SITE}/vllm/v1/engine/core.py", line 341, in step
    model_output = self.execute_model_with_error_logging(
                   ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "{SITE}/vllm/v1/worker/gpu_model_runner.py", line 2506, in execute_model
    hidden_states = self._model_forward(
                    ^^^^^^^^^^^^^^^^^^^^
  File "{SITE}/vllm/model_executor/layers/activation.py", line 82, in forward_cuda
    out = torch.empty(output_shape, dtype=x.dtype, device=x.device)
          ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
{OOM}"""
OUTPUT_HANDLER = f"""AsyncLLM output_handler failed.
Traceback (most recent call last):
  File "{SITE}/vllm/v1/engine/async_llm.py", line 477, in output_handler
    outputs = await engine_core.get_output_async()
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
  File "{SITE}/vllm/v1/engine/core_client.py", line 857, in get_output_async
    raise self._format_exception(outputs) from None
vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause."""


def engine_death() -> dict[str, str]:
    """Let engine-a die of CUDA OOM under load, while engine-b goes on."""
    day = datetime(2026, 11, 12, 22, 10, tzinfo=UTC)
    stack = Stack(4711, day, "aster-chat-14b", Rules(max_concurrent=64))
    host = Clock(day, ahead_s=-0.6, zone_h=8)
    dies, closes, ready, until = 171.42, 171.95, 246.3, 330.0
    dead_log = Log("model/engine-a/model.log", host)
    fine_log = Log("model/engine-b/model.log", host)
    dead = Engine(
        "engine-a",
        "172.20.8.21:8000",
        dead_log,
        dies,
        closes,
        ready,
        "model.cuda_oom",
    )
    fine = Engine("engine-b", "172.20.8.22:8000", fine_log)
    stack.engines = {e.name: e for e in (dead, fine)}
    users = people(
        [("prj-mail", "ten-red"), ("prj-docs", "ten-red"), ("prj-app", "ten-blue")],
        26,
        retries=1,
    )
    requests = list(
        arrivals(
            stack,
            users,
            ["engine-a", "engine-b"],
            [(1, 150, 0.8), (150, 172, 2.2), (172, until, 0.8)],
        )
    )
    glutton = User(
        "usr-998", "prj-docs", "ten-red", "172.20.33.9", "python-httpx/0.28.1"
    )
    requests += [
        Request(
            170.7,
            glutton,
            9.0,
            stack.new_id(),
            prompt=30_112,
            completion=400,
            engine="engine-a",
        ),
        Request(60.2, glutton, 4.4, stack.new_id(), prompt=41_230, engine="engine-a"),
        Request(203.5, glutton, 4.4, stack.new_id(), prompt=38_004, engine="engine-b"),
        Request(
            118.0, users[7], 6.0, stack.new_id(), hangs_up_after=2.2, engine="engine-b"
        ),
    ]
    stack.run(requests)
    running = [
        r.request_id
        for r in requests
        if r.engine == "engine-a" and r.start < dies < r.start + r.seconds
    ]
    core, api = "EngineCore_DP0 pid=288", "APIServer pid=1"
    dump = (
        "Dumping scheduler output for model execution: SchedulerOutput(scheduled_new_reqs=[NewRequestData("
        f"req_id=chatcmpl-{requests[-4].request_id},prompt_token_ids_len=30112,mm_features=[])], scheduled_cached_reqs="
        f"CachedRequestData(req_ids={[f'chatcmpl-{i}' for i in running[:-1]]}, resumed_from_preemption=[]))"
    )
    model_line(
        dead_log, dies - 0.002, "dump_input.py:76", dump, process=core, level="ERROR"
    )
    model_line(
        dead_log, dies, "core.py:842", FATAL, process=core, level="ERROR", mark="root"
    )
    model_line(
        dead_log,
        dies + 0.1,
        "async_llm.py:525",
        OUTPUT_HANDLER,
        level="ERROR",
        mark="echo",
    )
    for line in (
        "Shutting down",
        "Waiting for application shutdown.",
        "Application shutdown complete.",
    ):
        dead_log.write(closes, f"({api}) INFO:     {line}")
    for t, process, place, line in (
        (205.5, api, "api_server.py:1839", "vLLM API server version 0.11.0"),
        (
            214.0,
            "EngineCore_DP0 pid=271",
            "gpu_model_runner.py:2602",
            "Starting to load model /models/aster-chat-14b...",
        ),
        (
            238.2,
            "EngineCore_DP0 pid=271",
            "default_loader.py:267",
            "Loading weights took 21.37 seconds",
        ),
        (
            243.0,
            "EngineCore_DP0 pid=271",
            "kv_cache_utils.py:1087",
            "GPU KV cache size: 214,080 tokens",
        ),
        (
            246.1,
            api,
            "api_server.py:1912",
            "Starting vLLM API server 0 on http://0.0.0.0:8000",
        ),
    ):
        model_line(dead_log, t, place, line, process=process)
    dead_log.write(246.2, f"({api}) INFO:     Application startup complete.")
    for engine in (dead, fine):
        statistics(stack, engine, until)
    for n, t in enumerate((186.0, 201.0), 1):
        stack.say(
            t,
            "ERROR",
            "harness.health",
            f"health check failed engine=engine-a consecutive={n} interval_s=15",
        )
    stack.say(
        201.6,
        "INFO",
        "harness.engine",
        "Starting new model engine process engine=engine-a pid=40512",
    )
    stack.say(246.9, "INFO", "harness.health", "health check ok engine=engine-a")
    snapshots(stack, users[:3], until, 60)
    truth = truth_lines(stack, [
        {"condition": "model.cuda_oom", "layer": "model", "scope": "engine-a",
         "root": dead_log.lines("root")[0], "also": dead_log.lines("echo")},
        *never(
            "model.engine_dead", "model.engine_restart_loop", "model.host_oom_killed", "model.not_ready",
            "harness.connect_refused", "quota.exceeded"),
        {"not_finding": "quota.retry_waste"},
        clock_truth(stack.access, 0.0, 0.1), clock_truth(stack.harness, 2.7, 0.3), clock_truth(stack.ledger, -1.4, 0.3),
        clock_truth(dead_log, -0.6, 0.8, 8), clock_truth(fine_log, -0.6, 0.8, 8),
    ])  # fmt: skip
    kernel = "".join(
        f"[{host.at(t, '%a %b %d %H:%M:%S %Y')}] {text}\n"
        for t, text in (
            (-86_400 * 3, "nvidia: loading out-of-tree module taints kernel."),
            (
                -86_400 * 3 + 4,
                "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.95.05",
            ),
            (
                -1_800,
                "perf: interrupt took too long (3140 > 3132), lowering kernel.perf_event_max_sample_rate to 63500",
            ),
            (140, "eth0: renamed from veth41c07ab"),
            (
                320,
                "systemd-journald[611]: Data hash table of system.journal has a fill level at 75.1, suggesting rotation.",
            ),
        )
    )
    return {
        "truth.jsonl": truth,
        "logs/host/dmesg.txt": kernel,
        "logs/config/harness.yaml": config(64),
        **{f"logs/{log.path}": log.text() for log in (
            stack.access, stack.errors, stack.harness, stack.ledger, stack.balance, dead_log, fine_log)},
    }  # fmt: skip
