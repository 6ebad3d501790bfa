#!/usr/bin/env bash
# Which lines of the sampler, the decoders, the pools, the rules and the utilities their own tests run, and which not.
#
#   scripts/coverage.sh [PYTEST ARGUMENT...]
#
# Measuring doubles the time of these tests, so CI does not do it. Lines that only run in other processes (workers,
# fairseq's commands) or on a GPU are not seen. Needs coverage (pip install coverage), which scripts/install.sh dev
# brings.

set -euo pipefail
cd "$(dirname "$0")/.."
export OMP_NUM_THREADS=1
python="${VENV:-.venv}/bin/python"
rooms=(sampling decoders pools rules utilities)
data="$(mktemp)"
trap 'rm -f "$data"' EXIT
export COVERAGE_FILE="$data"
status=0
source="$(printf 'dcmbr_fairseq.%s,' "${rooms[@]}")"
"$python" -P -m coverage run --source "${source%,}" -m pytest -q "${rooms[@]/#/tests/}" "$@" || status=$?
"$python" -P -m coverage report --show-missing --skip-covered
exit "$status"
