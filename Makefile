# Thin: what is built is said by CMake, what is brought by scripts/setup. `make help` lists the targets.
JOBS ?= $(shell nproc)
ARGS ?=
TANDEM := build/release/tandem
SOURCES := $(shell find src tests bench -name "*.h" -o -name "*.cpp" -o -name "*.cu" -o -name "*.cuh")
export TANDEM_LIBTORCH TANDEM_ONEDNN TANDEM_CACHE

# Where an NVIDIA driver is, setup and bench are for its GPUs. PRESET=release keeps to the CPU, PRESET=cuda never asks.
ifneq ($(filter bench setup,$(MAKECMDGOALS)),)
ifeq ($(origin PRESET),undefined)
PRESET := $(shell scripts/setup --print-preset)
endif
endif
PRESET ?= release

.DEFAULT_GOAL := build
.PHONY: help setup setup-release setup-cuda setup-tests build program bench test test-long check lint tidy format docs dev \
        asan tsan cuda cuda-sources dist verify-dist peers bench-kernels verify-models verify-weights verify-export verify-onnx \
        verify-launchers verify-ranks verify-interference verify-compare verify-robust verify-trace verify-attribution verify-logs verify-streams verify-data \
        verify-page verify-resume verify-xrays verify-training fuzz \
        clean FORCE

help: ## list the targets
	@sed -n 's/^\([a-z-]*\):.*## \(.*\)/\1\t\2/p' Makefile | expand -t 16

setup: setup-release setup-$(PRESET) ## bring Debian packages and the pinned libtorch, for NVIDIA GPUs where they are

setup-release:
	@scripts/setup

setup-cuda:
	@scripts/setup --cuda

setup-tests: ## what setup brings, and what only the tests need
	@scripts/setup --tests

# An existing build folder reconfigures itself; TANDEM_LIBTORCH=DIR and TANDEM_ONEDNN=DIR take libraries you have.
given := $(foreach name,TANDEM_LIBTORCH TANDEM_ONEDNN,$(if $($(name)),-D$(name)=$($(name))))
build/%/build.ninja: CMakePresets.json $(if $(given),FORCE) | setup-release
	cmake --preset $* $(given)

build/cuda/build.ninja: CMakePresets.json $(if $(given),FORCE) | setup-cuda
	cmake --preset cuda $(given)

build: setup-release build/release/build.ninja ## build build/release/tandem and the tests
	cmake --build --preset release -j $(JOBS)

# The program alone: half of a clean build's time is the tests.
program: setup-$(PRESET) build/$(PRESET)/build.ninja ## build build/release/tandem without the tests
	cmake --build --preset $(PRESET) --target tandem -j $(JOBS)

bench: program ## measure training here, two to four minutes, with a page (ARGS='--model=resnet20 ...'; PRESET=release keeps off GPUs)
	build/$(PRESET)/tandem bench --page=tandem-report.html $(ARGS)

test: setup-tests build ## build and run all tests but the long ones
	ctest --test-dir build/release --output-on-failure --no-tests=error --timeout 900 -j $(JOBS) -LE long
	@scripts/list-skips build/release

test-long: setup-tests build ## the tests that train for minutes
	ctest --test-dir build/release --output-on-failure --no-tests=error --timeout 3600 -L long
	@scripts/list-skips build/release

check: ## formatting, layers and documents: what needs no build
	clang-format-14 --dry-run --Werror $(SOURCES)
	scripts/check-layers
	scripts/check-docs

lint: build check ## check, names of catalogs, generated documents, clang-tidy on changed files
	scripts/check-names
	$(TANDEM) docs | diff -u docs/OPTIONS.md - || { echo "docs/OPTIONS.md is out of date: make docs"; exit 1; }
	scripts/tidy --changed

tidy: build ## clang-tidy on the whole tree, for half an hour or more
	scripts/tidy

format: ## format all sources in place
	clang-format-14 -i $(SOURCES)

docs: build ## write docs/OPTIONS.md from the option table
	$(TANDEM) docs > docs/OPTIONS.md

dev: build/dev/build.ninja ## debug build in build/dev
	cmake --build --preset dev -j $(JOBS)

asan: setup-tests build/asan/build.ninja ## tests under the address and undefined-behaviour sanitizers
	cmake --build --preset asan -j $(JOBS)
	ASAN_OPTIONS=detect_container_overflow=0:allocator_may_return_null=1 \
	  LSAN_OPTIONS=suppressions=$(CURDIR)/scripts/lsan-suppressions.txt \
	  UBSAN_OPTIONS=print_stacktrace=1:halt_on_error=1 \
	  ctest --test-dir build/asan --output-on-failure --no-tests=error --timeout 3600 -LE long

# libgomp is not instrumented: one thread per replica, and reports from inside libtorch are ignored.
tsan: setup-tests build/tsan/build.ninja ## tests under the thread sanitizer
	cmake --build --preset tsan -j $(JOBS)
	OMP_NUM_THREADS=1 TSAN_OPTIONS=ignore_noninstrumented_modules=1:halt_on_error=1:allocator_may_return_null=1 \
	  setarch -R ctest --test-dir build/tsan --output-on-failure --no-tests=error --timeout 3600 -LE long

cuda: setup-cuda build/cuda/build.ninja ## build with NVIDIA kernels, and the tests, in build/cuda
	cmake --build --preset cuda -j $(JOBS)

# Folders and kernels that the release preset leaves out (cmake/Rooms.cmake). `FILE^` is ninja's word for what is made of FILE.
CUDA_SOURCES := $(shell find src -name "*.cu" -o -path "*/cuda/*.cpp" -o -path "*/frontend/*.cpp")
cuda-sources: setup-cuda build/cuda/build.ninja ## compile what only the cuda preset compiles, check registers; nothing is linked
	ninja -C build/cuda -j $(JOBS) $(CUDA_SOURCES:%="$(CURDIR)/%^")
	scripts/check-registers build/cuda

# The folder is replaced by each call. Its name tells the version. libtorch for GPUs is too large to take along.
DIST := build/dist/tandem-$(shell sed -n 's/^project.tandem VERSION \([0-9.]*\).*/\1/p' CMakeLists.txt)-linux-x86_64
dist: program ## a folder and a tar.xz with the program and all that it loads, for machines without packages
	scripts/bundle $(DIST) --preset=$(PRESET) $(if $(filter cuda,$(PRESET)),,--libtorch) --pack

verify-dist: program ## the same folder for CPUs, tried in an empty Debian (needs root, debootstrap and a package source)
	scripts/bundle $(DIST) --libtorch
	scripts/verify-dist $(DIST)

peers: program ## Tandem against its peers, for hours (ARGS='--models=resnet20 --modes=eager ...'; --help)
	bench/peers/compare $(ARGS)

bench-kernels: setup-release build/release/build.ninja ## kernels beside ATen and this machine's peaks (ARGS='--benchmark_filter=sgd')
	cmake --build --preset release --target bench_kernels -j $(JOBS)
	build/release/bench_kernels $(ARGS)

verify-models: setup-release ## recompute the golden numbers of the model tests with PyTorch and compare
	"$$(bench/peers/compare --print-python)" tests/golden/make_golden.py --check

verify-launchers: program ## the same losses by tandem launch, torchrun, mpirun and a Slurm that it starts, as far as they are there
	scripts/verify-launchers $(ARGS)

verify-resume: setup-tests program ## interrupted trainings go on to the weights of one that was left alone (ARGS='--only=killed'; needs root)
	scripts/verify-resume $(ARGS)

verify-xrays: program ## the recipe chexnet on made X-rays: AUC by scikit-learn, on 1, 2 and 4 replicas, and after an interruption
	scripts/verify-xrays $(ARGS)

verify-training: program ## 100 losses of the recipe imagenet-resnet50 beside PyTorch's on equal batches (ARGS=--throughput: train beside bench)
	"$$(bench/peers/compare --print-python)" scripts/verify-training $(ARGS)

verify-ranks: program ## two hosts whose cable is cut or slow, garbage on all ports, 50 launches at once, 64 ranks, unequal ones (ARGS=partition; needs root)
	scripts/verify-ranks $(ARGS)

verify-interference: program ## runs left alone and runs disturbed: what tandem bench notices, some 10 minutes
	scripts/verify-interference $(ARGS)

verify-compare: program ## a configuration compared with itself 150 times: what is found, for hours (ARGS='--sweep --runs=60')
	scripts/verify-compare $(ARGS)

verify-robust: program ## random arguments, limits, descriptors and signals: how each run ends, for hours (ARGS='--runs=500')
	cmake --build --preset release --target fork_server -j $(JOBS)
	scripts/verify-robust $(ARGS)

verify-trace: program ## traces of tandem bench --trace, read by Perfetto's own schema, beside their records
	scripts/verify-trace $(ARGS)

verify-attribution: build ## delays of 5 ms, put into a run 20 times: what --profile makes of them, 5 minutes (ARGS='*loader*')
	TANDEM_CACHE=build/release/cache build/release/test_run --gtest_filter='*LongAttribution*$(ARGS)'

verify-logs: program ## runs' event files in TensorBoard, their :::MLLOG lines in MLPerf's parser, beside the records
	scripts/verify-logs $(ARGS)

verify-streams: program ## batches of tensorpack, of NumPy and of hostile senders, and what serve sends, read by pyzmq
	scripts/verify-streams $(ARGS)

verify-data: program ## one data set in each container, by the writers that others use: samples, order, losses (ARGS='--only=lmdb')
	scripts/verify-data $(ARGS)

verify-page: setup-tests program ## a page of 10,000 runs opened in Chromium, its time measured
	scripts/verify-page $(ARGS)

verify-weights: build ## weights files of Python in Tandem and back, and verdicts on damaged ones
	cmake --build --preset release -j $(JOBS) --target weights_verdicts
	"$$(bench/peers/compare --print-python)" scripts/verify-weights $(ARGS)

verify-export: program ## networks of torchvision exported, their parameters and FLOPs in Tandem beside PyTorch's
	"$$(bench/peers/compare --print-python)" scripts/verify-export $(ARGS)

verify-onnx: program ## networks of torchvision exported to ONNX, their outputs and a step of training beside PyTorch's
	"$$(bench/peers/compare --print-python)" scripts/verify-onnx $(ARGS)

fuzz: build/fuzz/build.ninja ## libFuzzer programs of the readers in build/fuzz (needs clang-14)
	cmake --build --preset fuzz -j $(JOBS) --target fuzz

clean: ## remove all builds
	rm -rf build
