# Two commands: `make demo` and `make test`. Both build .venv first, from nothing but Python 3.11+.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check install -qq --constraint constraints.txt
DEMO_RUN := runs/demo
WORKERS ?= auto
# Tests start salva a hundred times: compiled files are kept, wherever the shell says not to.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test check bench docs measure mutants soak prove prove-quick-answers prove-the-rest site release clean

demo: $(VENV)/.base
	$(BIN)/salva run metalogic --out $(DEMO_RUN)

# `make test WORKERS=0` for one process; the results are the same.
test: $(VENV)/.test
	$(BIN)/python -m pytest --numprocesses $(WORKERS) --dist worksteal

check: $(VENV)/.test
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-cache

# One that misses its mark or breaks does not keep the others from being measured; it is named at the end.
bench: $(VENV)/.test
	@missed=; for file in bench/*.py; do echo "== $$file"; $(BIN)/python $$file || missed="$$missed $$file"; done; \
	test -z "$$missed" || { echo "missed a mark or broke:$$missed"; exit 1; }

docs: $(VENV)/.test
	$(BIN)/python docs/generate.py

# The documentation as a site in site/; a broken link is an error.
site: $(VENV)/.base
	@$(PIP) --editable '.[site]'
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict --quiet

# How large the package is, by room; the figures that decisions compare.
measure: $(VENV)/.test
	@$(PIP) --editable '.[measure]'
	$(BIN)/python tools/measure.py

# Changes of the source that no test notices; an hour on two cores, no part of `make test`.
mutants: $(VENV)/.test
	@$(PIP) --editable '.[mutants]'
	$(BIN)/python tools/mutants.py

# 50,000 sentences of known meaning and 100,000 formulas and scenes with a slow second opinion: what `make test` does
# with 2,000 and 4,000. About five minutes of one core; two work.
prove: $(VENV)/.test
	@$(MAKE) --no-print-directory -j2 --output-sync=target prove-quick-answers prove-the-rest

prove-quick-answers: $(VENV)/.test
	SALVA_PROVE=25 $(BIN)/python -m pytest -q tests/logic/test_dealing.py -k the_slow_one

prove-the-rest: $(VENV)/.test
	SALVA_PROVE=25 $(BIN)/python -m pytest -q tests/english/test_sentences.py tests/logic/test_dealing.py -k "not the_slow_one"

# 20,000 pictures and 40,000 answers from a local endpoint that misbehaves, killed and interrupted at random: up to
# 25 minutes of two cores, no part of `make test`.
soak: $(VENV)/.test
	$(BIN)/python tools/soak.py

# The files of a release, in dist/; `make test` checks that they install and work.
release: $(VENV)/.test
	rm -rf build dist
	$(BIN)/python -c "from setuptools import build_meta as b; print(b.build_sdist('dist'), b.build_wheel('dist'))"

clean:
	rm -rf $(VENV) runs build dist site

$(VENV)/.base: pyproject.toml constraints.txt
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "salva needs Python 3.11 or newer; try: make PYTHON=python3.12 $(MAKECMDGOALS)"; exit 1; }
	@echo "installing salva into $(VENV) ..."
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) --editable .
	@touch $@

$(VENV)/.test: $(VENV)/.base
	@echo "installing the test extras ..."
	@$(PIP) --editable '.[test]'
	@touch $@
