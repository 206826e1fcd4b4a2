# `make demo` and `make test` need Python 3.11 or later and pip; uv is used when it is there.
# Packages come from the lock files, whose hashes are checked.

CHOICE := python3 python3.13 python3.12 python3.11 python
PYTHON ?= $(shell for p in $(CHOICE); do \
	"$$p" -c 'import sys; sys.exit(sys.version_info < (3, 11))' 2>/dev/null && echo "$$p" && break; done)
UV ?= $(shell command -v uv)
BIN := .venv/bin
INSTALL = $(if $(UV),"$(UV)" pip install --quiet --python $(BIN)/python,\
	$(BIN)/python -m pip install --quiet --disable-pip-version-check)

.PHONY: help demo test test-deep lint format lock docs clean

help:
	@echo 'make demo    analyze the sample incidents and explain one request'
	@echo 'make test    run the tests'
	@echo 'make test-deep  run the long ones: every part of every rule left out, more examples'
	@echo 'make lint    ruff, mypy, sqlfluff'
	@echo 'make format  let ruff and sqlfluff format the code'
	@echo 'make docs    write docs/schema.md and the schemas of parsers/ anew'
	@echo 'make lock    resolve the lock files anew (needs uv)'
	@echo 'make clean   remove the venv and everything built'

demo: .venv/.run
	@mkdir -p build/demo
	$(BIN)/faultlayer analyze sample_logs/model_busy/logs --case build/demo/model_busy
	$(BIN)/faultlayer analyze sample_logs/engine_death/logs --case build/demo/engine_death
	$(BIN)/faultlayer explain build/demo/engine_death ad3f3173

test: .venv/.dev
	$(BIN)/python -m pytest -n auto --dist worksteal -q -m 'not deep'

test-deep: .venv/.dev
	$(BIN)/python -m pytest -n auto --dist worksteal -q -m deep

lint: .venv/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/sqlfluff lint --disable-progress-bar queries

format: .venv/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .
	$(BIN)/sqlfluff fix --disable-progress-bar queries

docs: .venv/.dev
	$(BIN)/python -m pytest -q tests/test_docs.py tests/test_format_schema.py --write-docs

lock:
	@test -n "$(UV)" || { echo 'make lock needs uv: pip install uv' >&2; exit 1; }
	sh .ci/lock "$(UV)"

clean:
	rm -rf .venv build dist .mypy_cache .pytest_cache .ruff_cache .hypothesis

# What runs: the runtime packages, and faultlayer itself, editable. What builds it comes
# from a lock too, so that pip fetches nothing unchecked for a build environment.
.venv/.run: .venv/.made requirements.lock requirements-build.lock pyproject.toml
	@echo 'installing the packages of requirements.lock into .venv'
	@$(INSTALL) --require-hashes -r requirements.lock -r requirements-build.lock
	@$(INSTALL) --no-deps --no-build-isolation -e .
	@touch $@

.venv/.dev: .venv/.run requirements-dev.lock
	@echo 'installing the packages of requirements-dev.lock into .venv'
	@$(INSTALL) --require-hashes -r requirements-dev.lock
	@touch $@

.venv/.made:
	@test -n "$(PYTHON)" || { \
		echo 'faultlayer needs Python 3.11 or later; none of these is one: $(CHOICE)' >&2; \
		echo 'hint: install it, or name it: make PYTHON=/path/to/python3.11 ...' >&2; exit 1; }
	@"$(PYTHON)" -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
		echo '$(PYTHON) is older than Python 3.11' >&2; \
		echo 'hint: name a newer one: make PYTHON=/path/to/python3.11 ...' >&2; exit 1; }
	@rm -rf .venv
	@if "$(PYTHON)" -c 'import ensurepip, venv' 2>/dev/null; then "$(PYTHON)" -m venv .venv; \
	elif test -n "$(UV)"; then "$(UV)" venv --quiet --python "$(PYTHON)" .venv; \
	else \
		echo '$(PYTHON) cannot make virtual environments' >&2; \
		echo 'hint: on Debian and Ubuntu: apt install python3-venv' >&2; exit 1; fi
	@touch $@
