"""Which layer failed an LLM request: model, harness or quota."""

__version__ = "0.1.0"
