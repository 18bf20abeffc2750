# Prerequisites: Go, git, make and bash. `make demo` and `make test` set up the rest.
SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DEFAULT_GOAL := help
.PHONY: help demo test check build image lint clean

FOUND_GO := $(or $(shell command -v go 2>/dev/null),$(wildcard /usr/local/go/bin/go))
GO = $(or $(FOUND_GO),$(error Go is missing: install it from https://go.dev/dl/, or put it in PATH))

export CGO_ENABLED := 0
export GOFLAGS := $(strip $(GOFLAGS) -buildvcs=false)

# Without a home that can be written to, Go keeps its caches in this tree.
ifneq ($(FOUND_GO),)
CACHES := $(shell for v in GOCACHE GOMODCACHE; do \
	d=$$("$(FOUND_GO)" env $$v) && [[ $$d == /* ]] && mkdir -p "$$d" 2>/dev/null && test -w "$$d" && echo $$v; done)
ifneq ($(CACHES),GOCACHE GOMODCACHE)
export GOCACHE := $(CURDIR)/.cache/go-build
export GOMODCACHE := $(CURDIR)/.cache/go-mod
endif
endif

help:
	@echo 'make demo    build the server and see it run six programs'
	@echo 'make test    all tests that this machine can run; names the others'
	@echo 'make build   bin/mcp-exec'
	@echo 'make image   the container image, with Docker'
	@echo 'make lint    the linters'
	@echo 'make clean   remove what was built here'

build:
	@$(GO) build -trimpath -o bin/mcp-exec ./cmd/mcp-exec

demo: build
	@$(GO) build -trimpath -o bin/demo ./examples/demo
	@python=$$(deploy/python/setup) && MCP_EXEC_PYTHON=$$python bin/demo bin/mcp-exec

# What cannot be seen by running it here: the other systems, and dead code paths.
check:
	$(GO) vet ./...
	GOOS=darwin $(GO) vet ./...
	GOOS=linux GOARCH=arm64 $(GO) build ./...

# Of each test log only what matters: failures whole, and why a test is skipped.
# The last line of a skipped test's log is its reason.
define REPORT
/^=== / { test = $$3; next }
/^ *--- PASS/ || /^PASS$$/ || /no test files/ { next }
/^ *--- FAIL/ { print; printf "%s", log_of[$$3]; next }
/^ *--- SKIP/ { n = split(log_of[$$3], lines, "\n"); print "skipped " $$3 ":" lines[n-1]; next }
/^panic: / || /^fatal error: / || /^WARNING: DATA RACE/ { broken = 1 }
/^(ok|FAIL)/ { print; test = ""; broken = 0; next }
broken || test == "" { print; next }
{ log_of[test] = log_of[test] $$0 "\n" }
endef
export REPORT

test: check
	@python=$$(deploy/python/setup) && export MCP_EXEC_PYTHON=$$python && \
	"$$python" deploy/python/lint.py deploy/python/*.py examples/*.py internal/forkserver/python/*.py && \
	$(GO) test -v -timeout 9m ./... 2>&1 | awk "$$REPORT"

image:
	@deploy/docker/build

lint:
	@.ci/lint

clean:
	rm -rf bin
	@test ! -e .cache || { chmod -R u+w .cache && rm -rf .cache; }
