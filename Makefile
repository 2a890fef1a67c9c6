# make demo    train a private model on real data and look at the report
# make test    everything that must hold, from nothing (what CI runs)
# make help    the rest

GO       ?= go
HUBBUB   := bin/hubbub
# Results name the program that made them.
COMMIT   = $(shell git rev-parse --short=12 HEAD 2>/dev/null)$(shell git diff --quiet HEAD 2>/dev/null || echo ' with changes')
# Tests and the demo share one copy of the data sets, below the checkout.
export HUBBUB_DATA ?= $(CURDIR)/.cache/data
# Ours is plain Go: the fast build is the default build.
export CGO_ENABLED ?= 0

.PHONY: help demo build data check test bench slow papers fresh readme browser picture oracle

help:
	@echo "make demo     train a private model on MNIST, under a minute, and write a report"
	@echo "make check    format, vet, staticcheck and quick tests: before every commit"
	@echo "make test     all tests, from nothing: what CI runs"
	@echo "make slow     long tests: race detector, other processors' kernels, fuzzing, the papers (hours)"
	@echo "make papers   the five papers' experiments at their fast scale, checked"
	@echo "make bench    benchmarks"
	@echo "make readme   run the code blocks of README.md in a fresh clone"
	@echo "make fresh    demo and test in a clone with empty HOME and caches"
	@echo "make picture  make the README's picture again"
	@echo "make oracle   compare the accountant with dp-accounting, anew"

demo: build data
	@echo "==> training (under a minute on two cores)"
	@$(HUBBUB) run examples/demo.yaml

build:
	@test -x $(HUBBUB) || echo "==> building hubbub (the first time, modules are downloaded and compiled: a minute or so)"
	@$(GO) build -ldflags "-X 'main.commit=$(COMMIT)'" -o $(HUBBUB) ./cmd/hubbub

data: build
	@echo "==> MNIST"
	@$(HUBBUB) data fetch mnist >/dev/null

check:
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	  test -z "$$unformatted" || { echo "not formatted: $$unformatted; run gofmt -w"; exit 1; }
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	$(GO) test -short ./...

test: data browser
	@unformatted=$$(gofmt -l $$(git ls-files -co --exclude-standard '*.go')); \
	  test -z "$$unformatted" || { echo "not formatted: $$unformatted; run gofmt -w"; exit 1; }
	$(GO) mod verify
	$(GO) vet ./...
	$(GO) tool staticcheck ./...
	GOARCH=arm64 $(GO) build ./...
	$(GO) test ./...
	$(GO) test -tags unsafe_checks -run 'Attack|EveryCheck|Index' ./secagg/...
	$(GO) test -tags browser -run Browser ./cmd/hubbub

# The report is looked at in a real browser. On a Debian machine that has none, and where we may, it is installed.
browser:
	@command -v chromium >/dev/null || command -v google-chrome >/dev/null || command -v chrome >/dev/null || { \
	  echo "==> installing chromium, which the page tests need"; \
	  { apt-get update && apt-get install -y --no-install-recommends chromium; } >/dev/null 2>&1 || \
	  { echo "no browser found and none could be installed: install chromium"; exit 1; }; }

# The kernels of other processors stand in for this one's.
slow: data
	CGO_ENABLED=1 $(GO) test -race ./...
	$(GO) test -tags slow -timeout 60m ./...
	HUBBUB_CPU=avx2 $(GO) test -count=1 ./...
	HUBBUB_CPU=generic $(GO) test -count=1 -timeout 30m ./...
	scripts/fuzz
	$(MAKE) papers

# The papers' experiments at their fast scale, all run anew; what is stated of them is checked.
papers: data
	rm -rf .cache/papers
	for set in fashion-mnist cifar10 adult; do $(HUBBUB) data fetch $$set >/dev/null || exit 1; done
	for paper in 000 001 002 003 004 compare; do \
	  $(HUBBUB) reproduce $$paper --fast --check --out .cache/papers/$$paper || exit 1; done

# Each part measures ours against others in the same run: numpy, OpenBLAS, PyTorch, Opacus, pfl-research, Flower, which are installed below
# .cache. All of it takes about an hour.
bench: data
	$(GO) test -run xxx -bench . ./...
	python3 bench/noise.py
	python3 bench/product.py
	python3 bench/masks.py
	python3 bench/paper002.py
	python3 bench/peers/compare.py
	$(GO) run ./bench/secagg
	python3 bench/secagg/flower.py

fresh:
	scripts/fresh

readme:
	scripts/readme

picture: build data browser
	scripts/picture

# Compares our accountant with an independent one, anew: writes accountant/testdata/dp_accounting.json and times both.
oracle:
	test -d .venv/oracle || python3 -m venv .venv/oracle
	.venv/oracle/bin/pip install -q -r oracle/requirements.txt
	.venv/oracle/bin/python oracle/compare.py
	$(GO) test -run 'Independent|Oracle|Vector' ./accountant/...
	.venv/oracle/bin/python oracle/speed.py
