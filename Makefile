# The doors for people: up, test, lint. Everything else is .venv/bin/python manage.py ...
PYTHON ?= python3
PORT ?= 8000
ARGS ?=
TESTS ?= tests
ROUNDS ?= 3
SECONDS ?= 8
# Two workers: one for each core of the smallest machine this is tested on. loadscope keeps a module's fixtures together.
PYTEST_ARGS ?= -n 2 --dist loadscope
IN = .venv/bin/python
LOCK = .venv/bin/python -m uv pip compile --universal --python-version 3.11 --generate-hashes --no-emit-index-url \
	--no-annotate --quiet --custom-compile-command "make lock"

.PHONY: up test bench schedules lint format lock runtime development

up: runtime
	@exec $(IN) manage.py up --port $(PORT) $(ARGS)

test: development
	$(IN) -m pytest $(PYTEST_ARGS) $(TESTS)

schedules: development
	@exec $(IN) -m benchmarks.schedules $(ARGS)

bench: runtime
	@exec $(IN) -m benchmarks --rounds $(ROUNDS) --seconds $(SECONDS) $(ARGS)

lint: development
	$(IN) -m ruff check .
	$(IN) -m ruff format --check .
	$(IN) -m mypy
	$(IN) -c "from importlinter.cli import lint_imports_command; lint_imports_command()"
	find templates -name "*.html" -print0 | xargs -0 -r .venv/bin/djade --check
	$(IN) manage.py makemigrations --check --dry-run
	MAKEGOOD_HTTPS=1 $(IN) manage.py check --deploy --fail-level WARNING
	$(IN) -m deptry .

format: development
	$(IN) -m ruff check --fix .
	$(IN) -m ruff format .
	find templates -name "*.html" -print0 | xargs -0 -r .venv/bin/djade

lock: development
	$(LOCK) $(UPGRADE) requirements.in -o requirements.txt
	$(LOCK) $(UPGRADE) requirements-dev.in -c requirements.txt -o requirements-dev.txt

runtime:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing. way out: apt install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) scripts/environment.py requirements.txt

development:
	@command -v $(PYTHON) >/dev/null || { echo "$(PYTHON) is missing. way out: apt install python3 python3-venv" >&2; exit 1; }
	@$(PYTHON) scripts/environment.py requirements-dev.txt
