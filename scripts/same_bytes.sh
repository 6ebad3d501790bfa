#!/usr/bin/env bash
# The outputs of a fixed set of commands, for comparison byte by byte: a change that must not change behaviour leaves
# them as they are. Run it in both checkouts, then diff -r the two folders.
#
#   scripts/same_bytes.sh MODELS TEXT OUT      MODELS: ls0.0.pt ls0.1.pt dict.en.txt dict.de.txt bpe.codes
#                                              TEXT: test_2016_flickr.en.gz test_2016_flickr.de.gz
#
# Decodes 24 sentences by every --decoding, with pools, n-best, truncation, pruning; decides again from the records;
# sweeps, measures, tests, and makes tables and the report page. About three minutes. Where two versions differ on
# purpose in what they write, say so in the commit.
# Environment: SENTENCES (24), VENV (.venv in the repository).

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/lib.sh"
[[ $# == 3 ]] || usage "$0"
MODELS="$(realpath "$1")" TEXT="$(realpath "$2")" OUT="$(realpath --canonicalize-missing "$3")"
SENTENCES="${SENTENCES:-24}"
[[ ! -e "$OUT" ]] || die "$OUT exists: remove it, or give another folder"
setup_venv
mkdir -p "$OUT"
WORK="$(mktemp -d)"
trap 'rm -rf "$WORK"' EXIT
cd "$WORK" # paths that outputs repeat are the same on both sides
export OMP_NUM_THREADS=1

for lang in en de; do
    read_text "$TEXT/test_2016_flickr.$lang.gz" | head --lines="$SENTENCES" >"test.$lang" || true
    tokenise "$lang" "test.$lang" "tok.$lang"
    apply_bpe "$MODELS/bpe.codes" "tok.$lang" "bpe.$lang"
done
cp "$MODELS"/ls0.[01].pt .
fairseq-preprocess -s en -t de --testpref bpe --srcdict "$MODELS/dict.en.txt" --tgtdict "$MODELS/dict.de.txt" \
    --destdir bin &>preprocess.log
FLAGS=(bin -s en -t de --tokenizer moses --remove-bpe --cpu --seed 1 --max-tokens 600)

# quietly COMMAND...: what it says of its progress is shown only where it fails.
quietly() { "$@" 2>messages.log || { cat messages.log >&2 && die "$1 $2 failed"; }; }

# decode NAME OPTION...: the lines of fairseq-generate that hold no time, and the records if there are any.
decode() {
    local name="$1"
    shift
    log "generate $name"
    quietly fairseq-generate "${FLAGS[@]}" --user-dir "$USER_DIR" --task translation_dcmbr --path ls0.1.pt "$@" \
        >generate.log
    grep '^[SHDPT]-' generate.log >"$OUT/$name.txt"
}

# without_column NAME TABLE: a TSV table without one column.
without_column() {
    awk -F '\t' -v OFS='\t' -v name="$1" \
        'NR == 1 { for (i = 1; i <= NF; i++) if ($i == name) drop = i } { if (drop) $drop = ""; print }' "$2"
}

decode beam --beam 5 --nbest 2
decode sample --decoding sample --temp-hyp 0.7
decode mbr --decoding mbr --num-hyp 20 --nbest 3 --pools-out "$OUT/mbr.jsonl"
decode dcmbr --decoding dcmbr --num-hyp 20 --pools-out "$OUT/dcmbr.jsonl"
decode two_pools --decoding dcmbr --num-hyp 20 --num-ref 12 --temp-ref 0.8 --pools-out "$OUT/two_pools.jsonl"
decode separate --decoding dcmbr --num-hyp 10 --ref-pool separate --reference-weights model --utility bleu --max-rows 40
decode top_p --decoding dcmbr --num-hyp 10 --temp-hyp 0.9 --sampling-topp 0.8 --utility chrf++ --min-len 3
decode prune --decoding dcmbr --num-hyp 16 --selection prune --utility ter --unkpen 2
decode ensemble --decoding dcmbr --num-hyp 8 --path ls0.0.pt:ls0.1.pt --max-len-a 1 --max-len-b 4

log "select"
dcmbr select "$OUT/dcmbr.jsonl" --utility bleu --num-hyp 10 --num-ref 10 --output "$OUT/select.txt"
dcmbr select "$OUT/two_pools.jsonl" --nbest 3 --format json --output "$OUT/select.jsonl"
dcmbr select "$OUT/mbr.jsonl" --reference-weights model --selection coarse --output "$OUT/coarse.txt"
FLAGS+=(--gen-subset test)
BOTH=(--path ls0.0.pt --path ls0.1.pt)
log "analyses"
quietly dcmbr sweep "${FLAGS[@]}" "${BOTH[@]}" --num-hyp 5,10 --temp-hyp 0.5,1 --temp-ref 0.5,1 --with-beam --beam 2 \
    --entropy --metrics chrf,bleu --pools pools --output "$OUT/sweep.tsv"
cp -r pools "$OUT/pools"
quietly dcmbr diversity "${FLAGS[@]}" "${BOTH[@]}" --temperatures 0.5,1 --num-hyp 10 --pools pools \
    --output "$OUT/diversity.tsv"
quietly dcmbr ranks "${FLAGS[@]}" "${BOTH[@]}" --output "$OUT/ranks.tsv"
quietly dcmbr entropy "${FLAGS[@]}" "${BOTH[@]}" >"$OUT/entropy.txt"
quietly dcmbr topn "${FLAGS[@]}" --path ls0.1.pt --first 8 --size 5 --max-expansions 300 --output topn.tsv
without_column seconds topn.tsv >"$OUT/topn.tsv"
quietly dcmbr temperature --from-ls 0.1 --to-ls 0.01 >"$OUT/lemma.txt"
log "evaluation, tables, the page"
quietly dcmbr evaluate "$OUT/select.txt" "$OUT/coarse.txt" --references test.de --output "$OUT/evaluate.txt"
quietly dcmbr significance "$OUT/select.txt" "$OUT/coarse.txt" --references test.de --output "$OUT/significance.txt"
quietly dcmbr table 1 "$OUT/sweep.tsv" --where metric=chrF --output "$OUT/table1.txt"
quietly dcmbr table utilities "$OUT/sweep.tsv" --where num_hyp=10 --where model=ls0.1 --output "$OUT/utilities.txt"
quietly dcmbr correlation "$OUT/diversity.tsv" --x diversity --y quality --output "$OUT/correlation.txt"
quietly dcmbr report "$OUT/dcmbr.jsonl" --references test.de --compare "select=$OUT/select.txt" -o "$OUT/report.html"
log "$(find "$OUT" -type f | wc -l) files in $OUT"
