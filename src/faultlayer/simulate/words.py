"""What programs say at length: tracebacks, and the life of an engine."""

from typing import Final

OOM: Final = (
    "torch.OutOfMemoryError: CUDA out of memory. Tried to allocate 3.64 GiB. GPU 0 has a total capacity of 79.25 GiB "
    "of which 1.87 GiB is free. Including non-PyTorch memory, this process has 77.37 GiB memory in use."
)
_SITE: Final = "/usr/local/lib/python3.12/dist-packages/vllm"
FATAL: Final = f"""EngineCore encountered a fatal error.
Traceback (most recent call last):
  File "{_SITE}/v1/engine/core.py", line 833, in run_engine_core
    engine_core.run_busy_loop()
  File "{_SITE}/v1/engine/core.py", line 889, in _process_engine_step
    outputs, model_executed = self.step_fn()
                              ^^^^^^^^^^^^^^
  File "{_SITE}/v1/worker/gpu_model_runner.py", line 2506, in execute_model
    hidden_states = self._model_forward(
                    ^^^^^^^^^^^^^^^^^^^^
{OOM}"""
ECHO: Final = f"""AsyncLLM output_handler failed.
Traceback (most recent call last):
  File "{_SITE}/v1/engine/async_llm.py", line 477, in output_handler
    outputs = await engine_core.get_output_async()
              ^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^^
vllm.v1.engine.exceptions.EngineDeadError: EngineCore encountered an issue. See stack trace (above) for the root cause."""
RELAY: Final = """Traceback (most recent call last):
  File "/opt/harness/lib/python3.12/site-packages/harness/server.py", line 212, in relay
    response.raise_for_status()
    ~~~~~~~~~~~~~~~~~~~~~~~~~^^
  File "/opt/harness/lib/python3.12/site-packages/httpx/_models.py", line 829, in raise_for_status
    raise HTTPStatusError(message, request=request, response=self)
httpx.HTTPStatusError: Server error '500 Internal Server Error' for url 'http://engine/v1/chat/completions'"""

API: Final = "APIServer pid=1"
SHUTDOWN: Final = (
    "Shutting down",
    "Waiting for application shutdown.",
    "Application shutdown complete.",
)
# (seconds after the death, process, place, text)
RESTART: Final = (
    (34.1, API, "api_server.py:1839", "vLLM API server version 0.11.0"),
    (42.6, "EngineCore_DP0 pid=271", "gpu_model_runner.py:2602",
     "Starting to load model /models/aster-chat-14b..."),
    (66.8, "EngineCore_DP0 pid=271", "default_loader.py:267",
     "Loading weights took 21.37 seconds"),
    (71.6, "EngineCore_DP0 pid=271", "kv_cache_utils.py:1087",
     "GPU KV cache size: 214,080 tokens"),
    (74.7, API, "api_server.py:1912",
     "Starting vLLM API server 0 on http://0.0.0.0:8000"),
)  # fmt: skip
READY_S: Final = 74.9
CLOSES_S: Final = 0.53
# (seconds of the day, text): what the kernel of an engine's host says anyway
KERNEL: Final = (
    (-259_200.0, "nvidia: loading out-of-tree module taints kernel."),
    (-259_196.0, "NVRM: loading NVIDIA UNIX x86_64 Kernel Module  580.95.05"),
    (1_260.0, "perf: interrupt took too long (3140 > 3132), lowering kernel.perf_event_max_sample_rate to 63500"),
    (31_140.0, "eth0: renamed from veth41c07ab"),
    (66_320.0, "systemd-journald[611]: Data hash table of system.journal has a fill level at 75.1, suggesting rotation."),
)  # fmt: skip
