# Every word that is typed often. `make help` lists them.

.DEFAULT_GOAL := help
SHELL := /bin/bash
DATA_DIR ?= ./refire-data
# Beside a plain toolchain only nextest is used, and only where it is installed.
NEXTEST := $(shell cargo nextest --version >/dev/null 2>&1 && echo yes)
# Most tests wait for something.
TEST_THREADS := $(shell echo $$(( $$(getconf _NPROCESSORS_ONLN) * 2 )))
# A private PostgreSQL for one command, unless REFIRE_TEST_POSTGRES names another.
WITH_POSTGRES := scripts/with-postgres

# In a clean clone everything is built once: what only later builds use would cost a quarter more.
ifeq ($(wildcard target),)
export CARGO_INCREMENTAL ?= 0
endif

.PHONY: help
help: ## What can be made
	@awk 'BEGIN { FS = ":.*## " } /^[a-z-]+:.*## / { printf "  make %-12s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

.PHONY: run
run: ## Build the server and start it on SQLite in $(DATA_DIR); ARGS adds flags (ARGS=--dev)
	cargo build --package refire
	@cargo run --quiet --package refire -- serve --data-dir $(DATA_DIR) $(ARGS)

.PHONY: demo
demo: ## Start a throw-away server with example workflows and flaky services
	cargo build --package refire
	@cargo run --quiet --package refire -- demo $(ARGS)

.PHONY: console
console: ## Build the web console (console/dist, committed) from its sources; needs Node 20.19 or newer
	cd console && npm ci --no-audit --no-fund && npm run api && npm run build

.PHONY: release
release: ## Build the optimised binary: target/release/refire
	cargo build --release --package refire --locked

.PHONY: test
test: lint test-doc test-code test-console ## Everything that must pass before a change lands

.PHONY: test-long
test-long: test-tools ## The long forms: 100,000 simulated worlds, every crash test at full length, the API by its description, fuzzing
	SEEDS=100000 cargo test --package refire-engine --all-features --locked --release --test sim -- --nocapture
	SEEDS=20000 $(WITH_POSTGRES) cargo test --package refire-store --all-features --locked --release --test differential
	REFIRE_TEST_LONG=1 cargo test --package refire-schedule --locked --release --test fires
	REFIRE_TEST_LONG=1 $(WITH_POSTGRES) cargo test --package refire --all-features --locked --test crash --test hostile -- --nocapture --test-threads=1
	REFIRE_TEST_LONG=1 cargo test --package refire --all-features --locked --test it -- --nocapture schemathesis
	REFIRE_TEST_LONG=1 $(MAKE) test-console
	scripts/fuzz $(or $(FUZZ_SECONDS),30)

.PHONY: test-tools
test-tools: ## Install what the tests call beside the toolchain, where that is possible
	@scripts/test-tools

.PHONY: test-code
test-code: test-tools ## Unit, conformance, simulation, crash and black-box tests
ifeq ($(NEXTEST),yes)
	@code=0; REFIRE_PG_FSYNC=off $(WITH_POSTGRES) cargo nextest run --workspace --all-features --locked --test-threads $(TEST_THREADS) || code=$$?; \
	scripts/slowest-tests; exit $$code
else
	REFIRE_PG_FSYNC=off $(WITH_POSTGRES) cargo test --workspace --all-features --locked --lib --bins --tests --examples
endif

.PHONY: test-console
test-console: ## The web console: types, lint, unit tests, and a real browser on the real server
	cargo build --package refire --all-features --locked
	@scripts/console-tests

.PHONY: test-doc
test-doc: ## The examples in the documentation
	cargo test --workspace --all-features --locked --doc --quiet

.PHONY: lint
lint: ## Formatting, lints, and the dependency rules where cargo-deny is installed
	cargo fmt --all --check
	cargo clippy --workspace --all-targets --all-features --locked -- -D warnings
	@if cargo deny --version >/dev/null 2>&1; then cargo deny --offline check bans licenses sources; \
	else echo "lint: cargo-deny is not installed; deny.toml was not checked"; fi

.PHONY: bench
bench: ## Measure on this machine, beside its raw limits; ONLY=ingest picks some (bench/README.md)
	cargo build --release --package refire --package refire-bench --locked
	@$(WITH_POSTGRES) cargo run --release --quiet --package refire-bench -- $(ONLY)

.PHONY: update
update: ## Write the generated files (openapi.json, docs/state-machine.md, snapshots) anew
	REFIRE_UPDATE=1 INSTA_UPDATE=always $(WITH_POSTGRES) cargo test --workspace --all-features --quiet
