#!/usr/bin/env bash
# Kill decodes with kill -9 at random moments, in the sampler, the utility and the writer, and go on after each.
#
#   scripts/kill_test.sh [ROUNDS]        12 kills a round, plain and packed records (default: 4 rounds)
#
# Each decode is of the tests' toy world, killed twice, and must end with the bytes of one that was left alone. The tests
# make one round. A minute of one core's time.

set -euo pipefail
cd "$(dirname "$0")/.."
export DCMBR_KILLS="${1:-4}" OMP_NUM_THREADS=1
[[ "$DCMBR_KILLS" =~ ^[1-9][0-9]*$ ]] || {
    echo "usage: scripts/kill_test.sh [ROUNDS]" >&2
    exit 2
}
"${VENV:-.venv}/bin/python" -P -m pytest -q tests/scale/test_generate.py -k killed_run
echo "$((12 * DCMBR_KILLS)) kills, the same bytes each time"
