# Every target gets what it needs by itself: MySQL by scripts/get-mysql,
# sysbench and HAProxy by scripts/install-tools, both into $CAUSEWAY_CACHE
# (default ~/.cache/causeway). Only Go and make have to be there.

VERSION ?= $(shell git describe --tags --always --dirty 2>/dev/null)
COMMIT  ?= $(shell git rev-parse --short=12 HEAD 2>/dev/null)
LDFLAGS  = -X main.version=$(VERSION) -X main.commit=$(COMMIT)

.DEFAULT_GOAL := help
.PHONY: help build demo demo-down test check test-unit test-integration test-promises test-driver-go test-clients test-suites test-web bench drill soak crowd bench-pool bench-replication bench-consistency fuzz sysbench clean

help: ## what can be made
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "  make %-17s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

build: ## bin/causeway
	@mkdir -p bin
	go build -trimpath -ldflags '$(LDFLAGS)' -o bin/causeway .

demo: build ## a real cluster with Causeway in front, and the main job in a minute
	@go run ./scripts/demo up

demo-down: ## end what make demo left running
	@go run ./scripts/demo down

test: check test-unit fuzz test-integration ## everything that CI runs

check: ## formatting, go vet, shell syntax
	@scripts/check

test-unit: ## tests without MySQL, with the race detector
	@echo "==> unit tests with the race detector (the first time compiles for minutes)"
	go test -race -timeout 10m $$(scripts/packages unit)
	cd clients/go && go test -race -timeout 10m ./...

test-integration: build ## tests on real clusters; PKG=./tests/cluster for one package
	@CAUSEWAY_BIN=$(CURDIR)/bin/causeway scripts/test-integration $(PKG)

test-promises: build ## in full what CI runs a part of: 100,000 reads back, 50,000 carried pairs a way, 10,000 bounded reads, a flood of bad tokens
	CAUSEWAY_BIN=$(CURDIR)/bin/causeway CAUSEWAY_TESTS=long go test -count=1 -v -p 1 -timeout 120m ./tests/consistency ./tests/bounded ./tests/tokens

test-driver-go: build ## go-sql-driver's own test suite through Causeway
	CAUSEWAY_BIN=$(CURDIR)/bin/causeway go test -count=1 -v -timeout 30m ./tests/driver

test-clients: build ## real drivers of all languages, directly and through Causeway (CLIENTS="php ruby" for some)
	CAUSEWAY_BIN=$(CURDIR)/bin/causeway CAUSEWAY_CLIENTS="$(CLIENTS)" CAUSEWAY_CLIENTS_SET=all go test -count=1 -v -timeout 60m ./tests/clients

test-suites: build ## the drivers' own test suites, directly and through Causeway (SUITES="pymysql sqlalchemy" for some)
	CAUSEWAY_BIN=$(CURDIR)/bin/causeway CAUSEWAY_SUITES="$(or $(SUITES),all)" go test -count=1 -v -timeout 90m ./tests/suites

test-web: build ## the helpers of clients/ in web applications, 1,000 rounds each (CAUSEWAY_WEB_ROUNDS=50)
	CAUSEWAY_BIN=$(CURDIR)/bin/causeway CAUSEWAY_WEB_ROUNDS=$(or $(CAUSEWAY_WEB_ROUNDS),1000) go test -count=1 -v -timeout 30m ./tests/web

bench: build ## CPU and throughput beside a plain relay, HAProxy and MySQL Router (BENCH="--rounds 5 --check")
	CAUSEWAY_BIN=$(CURDIR)/bin/causeway go run ./tests/bench $(BENCH)

drill: build ## ten minutes' worth of replica lag in two under all classes: table, drill.png, verdict (DRILL="--time 10m")
	CAUSEWAY_BIN=$(CURDIR)/bin/causeway go run ./tests/drill $(DRILL)

soak: build ## 10 minutes at 200 connections: nothing leaks
	CAUSEWAY_BIN=$(CURDIR)/bin/causeway SOAK_DURATION=10m STREAM_MB=5000 go test -count=1 -v -timeout 60m ./tests/soak

crowd: build ## 10,000 clients over a few dozen connections
	CAUSEWAY_BIN=$(CURDIR)/bin/causeway CROWD_CLIENTS=$(or $(CLIENTS),10000) CROWD_ACTIVE=500 CROWD_DURATION=60s go test -count=1 -v -timeout 30m ./tests/crowd

fuzz: ## every fuzz target for SECONDS=10
	@scripts/fuzz --seconds $(or $(SECONDS),10) --jobs $(or $(JOBS),4)

bench-pool: build ## 256 clients over 16 connections beside 256 connections, transactions on few rows (BENCH=...)
	CAUSEWAY_BIN=$(CURDIR)/bin/causeway go run ./tests/bench --script oltp_read_write --rows 300 --threads 256 --modes auto --split-cores \
		--only direct,causeway,causeway-16 --at-least 1 $(BENCH)

bench-replication: ## apply lag by the number of applier workers: table, replication.png, replication.csv (BENCH="--time 15s --rounds 3")
	go run ./tests/benchreplication $(BENCH)

bench-consistency: build ## what seeing one's own writes costs, by ways to see them: table, consistency.png, consistency.csv (BENCH="--writes 0.1 --check")
	CAUSEWAY_BIN=$(CURDIR)/bin/causeway go run ./tests/benchconsistency $(BENCH)

sysbench: build ## sysbench through Causeway for 60 s a run
	CAUSEWAY_BIN=$(CURDIR)/bin/causeway SYSBENCH_TIME=60s go test -count=1 -v -timeout 30m ./tests/sysbench

clean: demo-down ## end all clusters of this folder, remove what was built; the cache with MySQL stays
	@for conf in $(wildcard .cluster/*/cluster.conf); do scripts/cluster --dir $$(dirname $$conf) down; done
	rm -rf bin .cluster
