#!/usr/bin/env bash
# Check decoding on a CUDA device: right answers in fp32, fp16 and bf16, speed, memory, overlap. At most eight minutes.
#
#   scripts/gpu_check.sh CHECKPOINT DATA TEXT BPE_CODES      DATA: the folder with dict.*.txt; TEXT: source sentences, one
#                                                            a line, plain or .gz; BPE_CODES: subword-nmt's
#
# Against the CPU in float32: how many draws, sentences and pools are the same, and where the first others differ, by how
# much their logits do (a draw may fall within the rounding). With random weights of Transformer-base and -big: sentences
# and tokens a second of pools of 10, 50 and 250, against fairseq's sampling and beam 5, in fp16; peak memory by --max-rows;
# what share of a decode the device waits for the utility. The report goes to WORK/report.json, and a row for
# docs/results.md is printed last. Environment: WORK (work/gpu_check), MINUTES (8).

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"
[[ $# == 4 ]] || usage "$0"
WORK="${WORK:-$ROOT/work/gpu_check}"
setup_venv
torch_sees_gpu || die "torch can use no CUDA device here (see above)"
mkdir -p "$WORK"
python -P "$ROOT/scripts/bench/gpu.py" "$@" --minutes "${MINUTES:-8}" --output "$WORK/report.json"
