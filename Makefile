# Every word that is typed often. `make help` lists them.

.DEFAULT_GOAL := help
SHELL := /bin/bash
DATA_DIR ?= ./refire-data
# Beside a plain toolchain only nextest is used, and only where it is installed.
NEXTEST := $(shell cargo nextest --version >/dev/null 2>&1 && echo yes)

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

.PHONY: release
release: ## Build the optimised binary: target/release/refire
	cargo build --release --package refire --locked

.PHONY: test
test: lint test-doc test-code ## Everything that must pass before a change lands

.PHONY: test-code
test-code: ## Unit, conformance and black-box tests
ifeq ($(NEXTEST),yes)
	cargo nextest run --workspace --all-features --locked
else
	cargo test --workspace --all-features --locked --lib --bins --tests --examples
endif

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
bench: ## Measure: executions per second on this machine, beside the raw limit of its disk
	cargo run --release --quiet --package refire-bench

.PHONY: update
update: ## Write the generated files (openapi.json, docs/state-machine.md, snapshots) anew
	REFIRE_UPDATE=1 INSTA_UPDATE=always cargo test --workspace --all-features --quiet
