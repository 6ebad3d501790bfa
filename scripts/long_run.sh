#!/usr/bin/env bash
# Decode very many sentences with a small model, and watch time, memory and disk: whether anything grows that should not.
#
#   scripts/long_run.sh MODELS OUT TEXT...        MODELS: ls0.1.pt dict.en.txt dict.de.txt bpe.codes
#                                                 TEXT: English sentences, one a line, plain or .gz
#
# The texts are repeated until there are enough sentences. One process, about an hour for 200,000 sentences on one quiet
# core. The same command goes on where it was cut off. OUT gets the records, memory.tsv and memory.png, and generate.log
# with the progress; at the end a row for docs/results.md is printed.
# Environment: SENTENCES (200000), NUM (4 draws of each sentence), VENV (.venv in the repository).

NUM="${NUM:-4}"
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"
[[ $# -ge 3 ]] || usage "$0"
MODELS="$(realpath "$1")" OUT="$(realpath --canonicalize-missing "$2")"
shift 2
SENTENCES="${SENTENCES:-200000}"
setup_venv
export OMP_NUM_THREADS="${OMP_NUM_THREADS:-1}"
mkdir -p "$OUT"

# encoded OUTPUT TEXT...: the sentences of all texts as the model reads English.
encoded() {
    local output="$1" text
    shift
    for text in "$@"; do read_text "$text"; done >"$output.text"
    tokenise en "$output.text" "$output.tok"
    apply_bpe "$MODELS/bpe.codes" "$output.tok" "$output"
    rm "$output.text" "$output.tok"
}

# binary TOKENS FOLDER: the first SENTENCES of the tokens, again and again. fairseq wants two sides; the source stands for
# the target, which nobody reads.
binary() {
    local text="$2.text"
    : >"$text.en"
    while (($(wc -l <"$text.en") < SENTENCES)); do cat "$1" >>"$text.en"; done
    head --lines="$SENTENCES" "$text.en" >"$text.de"
    cp "$text.de" "$text.en"
    preprocess en de "$2" --testpref "$text" --srcdict "$MODELS/dict.en.txt" --tgtdict "$MODELS/dict.de.txt"
    rm "$text.en" "$text.de"
}

step "tokens" "$OUT/tokens" --with TEXTS="$*" -- encoded {} "$@"
step "binarise $SENTENCES sentences" "$OUT/bin" --with SENTENCES --from "$OUT/tokens" -- binary "$OUT/tokens" {}
start="$SECONDS"
status=0
python -P "$ROOT/scripts/bench/watch.py" "$OUT/memory.tsv" python -P -m dcmbr_fairseq.cli generate "$OUT/bin" \
    -s en -t de --path "$MODELS/ls0.1.pt" --output "$OUT/records" --num-hyp "$NUM" --tokenizer moses --remove-bpe \
    --max-tokens 4000 --cpu 2> >(tee -a "$OUT/generate.log" >&2) || status=$?
records="$(find "$OUT/records" -name 'records.0-of-1.jsonl.gz*' -print -quit)"
awk -F '\t' -v seconds=$((SECONDS - start)) -v bytes="$(stat --format %s "$records")" -v wanted="$SENTENCES" -v status="$status" '
    NR > 1 { if ($1 >= 120 && !first) first = $2; if ($2 > most) most = $2; last = $2 }
    END { printf "%d sentences asked for, status %d: %d s on the clock, %.1f MB of records, %s MiB resident after two minutes, %s at most, %s at the end\n",
          wanted, status, seconds, bytes / 1e6, first, most, last }' "$OUT/memory.tsv"
grep ' of .* sentences' "$OUT/generate.log" | tail -n 1
((status == 0)) || exit "$status"
