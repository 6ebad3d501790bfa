#!/usr/bin/env bash
# Which utility raises which metric: MBR and DC-MBR by several utilities, each judged by several metrics, as in the
# paper's table of utilities. The pools are sampled once; every utility decides from the same ones.
#
#   scripts/multi30k/utilities.sh SRC TGT LS [TEST]          for example: en de 0.1 test_2016_flickr
#
# The table is printed, and written as text, TSV and LaTeX below WORK/SRC-TGT/utilities/RUN/TEST; scores.tsv beside it is
# for `dcmbr table` and `dcmbr plot`. BEER is added where BEER_HOME is set, BLEURT where BLEURT_CHECKPOINT names its
# folder.
#
# Environment: UTILITIES (bleu chrf meteor ter), METRICS (the utilities, separated by commas), LIMIT (0: all sentences;
# otherwise the first LIMIT), NUM (50 samples), DRAWS (independent, or arithmetic), TEMP (0.5, both temperatures), SEED
# (1), RUN (lsLS), WORK (work/multi30k).

UTILITIES="${UTILITIES:-bleu chrf meteor ter${BEER_HOME:+ beer}${BLEURT_CHECKPOINT:+ bleurt}}"
METRICS="${METRICS:-${UTILITIES// /,}}"
TEMP="${TEMP:-0.5}"
export METRICS TEMP_HYP="$TEMP" TEMP_REF="$TEMP"
# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=scripts/multi30k/settings.sh
source "$(dirname "$0")/settings.sh"
[[ $# == 3 || $# == 4 ]] || usage "$0"
set_pair "$1" "$2"
LIMIT="${LIMIT:-0}"
RUN="${RUN:-ls$3}"
TEST="${4:-${TESTS[0]}}"
extras=()
[[ " $UTILITIES " != *" meteor "* ]] || extras+=(meteor)
[[ " $UTILITIES " != *" bleurt "* ]] || extras+=(bleurt)
setup_venv "$(IFS=, && echo "${extras[*]}")"

# arguments_of NAME: what a utility, or the metric of that name, needs to be told.
arguments_of() {
    case "$1" in
        meteor | beer) echo "{\"language\": \"$TGT\"}" ;;
        bleurt) echo "{\"checkpoint\": \"${BLEURT_CHECKPOINT:?names the folder of the BLEURT checkpoint}\"}" ;;
        *) echo '{}' ;;
    esac
}

# choose SYSTEM UTILITY OUTPUT: decide by a utility from the system's pools.
choose() {
    dcmbr select "$OUT/$1.jsonl" --utility "$2" --utility-args "$(arguments_of "$2")" --output "$3"
}

# evaluate_all OUTPUT NAME...: the scores of all choices, one row for each.
evaluate_all() {
    local output="$1" name files=()
    shift
    for name in "$@"; do files+=("$OUT/$name.txt"); done
    dcmbr evaluate "${files[@]}" --names "$(IFS=, && echo "$*")" --references "$OUT/references.txt" \
        --metrics "$METRICS" --metric-args "$METRIC_ARGS" --format tsv --output "$output"
}

# tidy_choices OUTPUT: one row for each utility, decoding and metric, with the columns that `dcmbr table utilities` reads.
tidy_choices() {
    awk -F '\t' -v OFS='\t' -v num="$NUM" -v temp="$TEMP" -v draws="$DRAWS" -v seed="$SEED" -v task="$TEST-$SRC-$TGT" \
        -v run="$RUN" '
        NR == 1 {
            for (i = 2; i <= NF; i++) metric[i] = $i
            print "task", "model", "decoding", "num_hyp", "temp_hyp", "temp_ref", "draws", "utility", "seed", "metric", "score"
            next
        }
        {
            decoding = $1; sub(/-.*/, "", decoding)
            utility = $1; sub(/^[^-]*-/, "", utility)
            t = decoding == "mbr" ? 1 : temp
            for (i = 2; i <= NF; i++) print task, run, decoding, num, t, t, draws, utility, seed, metric[i], $i
        }' "$TABLE/evaluation.tsv" >"$1"
}

SYSTEMS="mbr dcmbr" UTILITY=chrf UTILITY_ARGS='{}' RUN="$RUN" NUM="$NUM" DRAWS="$DRAWS" SEED="$SEED" \
    bash "$(dirname "$0")/decode.sh" "$SRC" "$TGT" "$3" "$TEST"

OUT="$DIR/utilities/$RUN/$TEST"
((LIMIT == 0)) || OUT+="-first$LIMIT"
OUT+="/n$NUM-t$TEMP-seed$SEED"
[[ "$DRAWS" == independent ]] || OUT+="-$DRAWS"
TABLE="$OUT/${UTILITIES// /+}-by-${METRICS//,/+}"
step "references" "$OUT/references.txt" --with LIMIT --from "$DIR/raw" -- first_lines "$DIR/raw/$TEST.$TGT" {}
names=() choices=()
for system in mbr dcmbr; do
    folder="$DIR/decode/$RUN/$TEST/$(UTILITY=chrf label "$system")"
    step "pools of $system" "$OUT/$system.jsonl" --with LIMIT --from "$folder" -- first_lines "$folder/pools.jsonl" {}
    for utility in $UTILITIES; do
        names+=("$system-$utility")
        arguments="$(arguments_of "$utility")"
        step "$system by $utility" "$OUT/$system-$utility.txt" \
            --with "utility=$utility" "arguments=$arguments" --from "$OUT/$system.jsonl" -- \
            choose "$system" "$utility" {}
        choices+=("$OUT/$system-$utility.txt")
    done
done
METRIC_ARGS=""
for name in ${METRICS//,/ }; do METRIC_ARGS+="${METRIC_ARGS:+, }\"$name\": $(arguments_of "$name")"; done
METRIC_ARGS="{$METRIC_ARGS}"
step "evaluation by $METRICS" "$TABLE/evaluation.tsv" --with METRICS METRIC_ARGS \
    --from "${choices[@]}" "$OUT/references.txt" -- evaluate_all {} "${names[@]}"
step "scores" "$TABLE/scores.tsv" --from "$TABLE/evaluation.tsv" -- tidy_choices {}
for form in tsv latex text; do
    step "table as $form" "$TABLE/table.${form/latex/tex}" --with TEMP --from "$TABLE/scores.tsv" -- \
        dcmbr table utilities "$TABLE/scores.tsv" --temperature "$TEMP" --format "$form" --output {}
done
cat "$TABLE/table.text"
