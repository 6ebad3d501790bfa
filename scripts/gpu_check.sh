#!/usr/bin/env bash
# Check decoding on a CUDA device, in single and half precision: the same model, text and seed as on the CPU.
#
#   scripts/gpu_check.sh CHECKPOINT DATA_BIN                 DATA_BIN as fairseq-generate takes it
#
# Decodes the test set with DC-MBR on the CPU, on the GPU, and on the GPU with --fp16, and prints how many translations
# agree and what each took. A few may differ: logits round differently, and a draw may fall within the difference.
# Takes a few minutes for a small model and 1,000 sentences. Environment: WORK (work/gpu_check), NUM (50).

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"
[[ $# == 2 ]] || usage "$0"
WORK="${WORK:-$ROOT/work/gpu_check}"
setup_venv
python -P -c 'import torch; raise SystemExit(not torch.cuda.is_available())' || die "torch sees no CUDA device here"
mkdir -p "$WORK"

# decode NAME FLAGS...: translations in input order in WORK/NAME.txt, and the seconds it took
decode_as() {
    local name="$1" start="$SECONDS"
    shift
    fairseq-generate "$2" --user-dir "$ROOT/dcmbr_fairseq" --task translation_dcmbr --path "$1" --decoding dcmbr \
        --num-hyp "${NUM:-50}" --remove-bpe --max-tokens 4000 --seed 1 "${@:3}" >"$WORK/$name.log"
    grep '^D-' "$WORK/$name.log" | sed 's/^D-//' | sort -n | cut -f 3 >"$WORK/$name.txt"
    log "$name: $((SECONDS - start)) seconds, $(wc -l <"$WORK/$name.txt") sentences"
}

decode_as cpu "$@" --cpu
decode_as cuda "$@"
decode_as cuda-fp16 "$@" --fp16
for name in cuda cuda-fp16; do
    same=$(paste -d '\n' "$WORK/cpu.txt" "$WORK/$name.txt" | awk 'NR % 2 { a = $0; next } a == $0 { n++ } END { print n + 0 }')
    log "$name: $same of $(wc -l <"$WORK/cpu.txt") translations are the CPU's"
done
