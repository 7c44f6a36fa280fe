# Everything a developer or a newcomer types. Each target installs what it needs.
SHELL := /bin/bash
export CGO_ENABLED = 0

BIN := bin/plexus
LDFLAGS := -s -w

.PHONY: build demo test check bench bench-raw web web-check cross clean
.PHONY: chromium npm cc

build: $(BIN)

$(BIN): $(wildcard $(shell git ls-files '*.go' '*.sql' '*.md' '*.yaml' '*.txtar' web/dist go.mod 2>/dev/null))
	go build -trimpath -ldflags '$(LDFLAGS)' -o $@ ./cmd/plexus

# Watch Plexus fix a bug on the practice site.
demo: chromium build
	$(BIN) demo

# Everything tested, end to end in Chromium included.
test: chromium npm cc
	go vet ./...
	CGO_ENABLED=1 go test -race -timeout 20m ./...

# What CI runs beside the tests: format, types, committed web output, other systems.
check: npm web-check cross
	@test -z "$$(gofmt -l $$(git ls-files '*.go'))" || { gofmt -l $$(git ls-files '*.go'); exit 1; }
	go vet ./...
	go mod tidy -diff
	go run honnef.co/go/tools/cmd/staticcheck@v0.8.2 ./...

cross:
	GOOS=windows go vet ./...
	GOOS=darwin go vet ./...

# Build the browser side into web/dist, which is committed.
web: npm
	go run ./web/protocol/gen
	npm --prefix web run check
	go run ./web/bundle

web-check: npm
	npm --prefix web run check
	go run ./web/bundle -check

# Everything that has a bound, measured on this machine: one table.
bench: build chromium
	go run ./bench

# The benchmarks of the packages, for comparing two versions with benchstat.
bench-raw:
	set -o pipefail; go test -run '^$$' -bench . -benchmem ./... | tee bench.txt

npm: web/node_modules/.package-lock.json

web/node_modules/.package-lock.json: web/package-lock.json
	@command -v npm >/dev/null || scripts/install npm nodejs
	npm --prefix web ci --ignore-scripts --no-audit --no-fund
	@touch $@

chromium:
	@scripts/install chromium

# The race detector is the only thing that needs a C compiler.
cc:
	@scripts/install gcc libc6-dev

clean:
	rm -rf bin bench.txt web/node_modules
