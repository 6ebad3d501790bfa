#!/usr/bin/env bash
# Install what the tests need into .venv (once) and run all tests on two cores; arguments go to pytest.
#   scripts/test.sh [PYTEST ARGUMENT...]     for instance: scripts/test.sh tests/test_overlap.py -x
set -euo pipefail
cd "$(dirname "$0")/.."
bash scripts/install.sh test
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1} # each worker computes on one core
# Three workers, since tests wait for programs that they start. A file stays with one worker, and the longest come first
# (tests/conftest.py), so that all end at the same time.
exec .venv/bin/python -P -m pytest -n 3 --dist loadscope --no-loadscope-reorder "$@"
