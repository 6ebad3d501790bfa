#!/usr/bin/env bash
# Try readers, detokenisers and kernels on random inputs for longer than the tests do, and say how many there were.
#
#   scripts/fuzz.sh INPUTS [PYTEST ARGUMENT...]
#
# INPUTS for each property of average cost, for example 2000; fewer or more for others, as in the tests, where an average
# one takes 100. Runs every test with random inputs (hypothesis) of the files below. A failure shows the smallest input
# that fails, is tried first by every later run (.hypothesis), and belongs into a test of its kind. At most 6 GB of memory
# are used: what asks for more is a finding too.

set -euo pipefail
[[ $# -ge 1 && "$1" =~ ^[0-9]+$ ]] || {
    awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$0" >&2
    exit 2
}
cd "$(dirname "$0")/.."
export DCMBR_FUZZ_INPUTS="$1" OMP_NUM_THREADS=1
ulimit -v 6000000

FILES=(
    tests/test_fuzz.py tests/hooks/test_stored_settings.py tests/files/test_json_lines.py tests/evaluation/test_translations.py
    tests/pools tests/present/test_tsv.py tests/corpus tests/decoding/test_detokenizer.py
    tests/utilities/test_overlap_utilities.py tests/utilities/test_tercom.py tests/utilities/test_ter.py tests/rules
    tests/sampling tests/decoders/test_key_value_cache.py tests/decoders/test_prefix_rows.py
)
log="$(mktemp)"
trap 'rm -f "$log"' EXIT
status=0
"${VENV:-.venv}/bin/python" -P -m pytest -m hypothesis --hypothesis-profile=long --hypothesis-show-statistics \
    "${FILES[@]}" "${@:2}" >"$log" 2>&1 || status=$?
grep -E "^(tests/.*:$|FAILED|E  |[0-9]+ (passed|failed))|[0-9]+ passing" "$log" | cut --characters=-300 || true
awk '/[0-9]+ passing/ { for (i = 2; i <= NF; i++) if ($i ~ /^passing/) inputs += $(i - 1) }
     END { print inputs + 0, "inputs passed" }' "$log"
exit "$status"
