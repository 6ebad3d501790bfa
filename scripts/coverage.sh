#!/usr/bin/env bash
# Which lines of the sampler, the decoders, the pools, the rules and the utilities their own tests run, and which not.
#
#   scripts/coverage.sh [PYTEST ARGUMENT...]
#
# Measuring doubles the time of these tests, so they are run once more for it, with those of `dcmbr select` and of the
# options. Programs that tests start are measured too; what only a GPU or its rehearsal runs is not seen. Fails where
# less than 98 of a hundred lines are run. Needs pytest-cov, which scripts/install.sh dev brings.

set -euo pipefail
cd "$(dirname "$0")/.."
export OMP_NUM_THREADS=1
rooms=(sampling decoders pools rules utilities)
data="$(mktemp -d)"
trap 'rm -rf "$data"' EXIT
export COVERAGE_FILE="$data/coverage"
"${VENV:-.venv}/bin/python" -P -m pytest -q -n 2 --dist loadscope "${rooms[@]/#/--cov=dcmbr_fairseq.}" \
    --cov-report=term-missing:skip-covered --cov-fail-under=98 "${rooms[@]/#/tests/}" \
    tests/commands/test_select.py tests/decoding "$@"
