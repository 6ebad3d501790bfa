#!/usr/bin/env bash
# The worked example of distillation (docs/distillation.md): what a model learns from its own DC-MBR translations, and
# from three controls with as many updates: its beam's translations, the references, and text it was not trained on.
#
#   scripts/multi30k/distill.sh SRC TGT LS [TEACHER...]      for example: en de 0.1
#
# TEACHER: dcmbr, beam, references, dcmbr-ls0 (fine-tuning without label smoothing), other (DC-MBR translations of OTHER);
# without any, all of them. Each is learnt at each of RATES. The results are printed, and lie in
# WORK/SRC-TGT/distilled/RUN/TEACHER-RATE, the texts in distilled/RUN/text; entropy.tsv there holds the token entropy of
# the models, and calibration.tsv what their pools promise against what the references say, of the last run of this script.
#
# Environment: OTHER (a file of sentences in SRC, for the teacher other), LIMIT (12000 sentences), DISTILL_UPDATES (300),
# RATES ("5e-4": learning rates), PATIENCE (-1: all teachers get all updates, and nothing is validated on the way;
# otherwise as checkpoint.patience), RUN (lsLS), WORK (work/multi30k), and what scripts/distill.sh takes: NUM, TEST_NUM,
# METRICS ...

# shellcheck source=scripts/lib.sh
source "$(dirname "$0")/../lib.sh"
# shellcheck source=scripts/multi30k/settings.sh
source "$(dirname "$0")/settings.sh"
[[ $# -ge 3 ]] || usage "$0"
set_pair "$1" "$2"
RUN="${RUN:-ls$3}"
LIMIT="${LIMIT:-12000}"
DISTILL_UPDATES="${DISTILL_UPDATES:-300}"
read -r -a RATES <<<"${RATES:-5e-4}"
PATIENCE="${PATIENCE:--1}"
OTHER="${OTHER:-}"
MODEL="$DIR/checkpoints/$RUN/averaged.pt"
TEST="${TESTS[0]}"
OUT="$DIR/distilled/$RUN"
teachers=("${@:4}")
[[ ${#teachers[@]} -gt 0 ]] || teachers=(dcmbr beam references dcmbr-ls0 ${OTHER:+other})
[[ -f "$MODEL" ]] || die "$MODEL does not exist: run scripts/multi30k/train.sh $1 $2 $3 first"
setup_venv meteor
export DCMBR_USE_VENV_AS_IS=1 DATA="$DIR" SRC TGT TEST LIMIT

# distilled TEACHER RATE: one distillation. Those of one text share it.
distilled() {
    local sources="$DIR/raw/train.$SRC" teacher="$1" changes=()
    case "$1" in
        dcmbr | beam) ;;
        dcmbr-ls0) teacher=dcmbr changes=(criterion.label_smoothing=0.0) ;;
        references) teacher="$DIR/raw/train.$TGT" ;;
        other) teacher=dcmbr sources="${OTHER:?names a file of sentences in $SRC}" ;;
        *) die "unknown teacher $1: give dcmbr, beam, references, dcmbr-ls0 or other" ;;
    esac
    [[ "$PATIENCE" != -1 ]] || changes+=(dataset.disable_validation=true)
    TEACHER="$teacher" TEXT="$OUT/text/${1%-ls0}" BASE_TEST="$DIR/decode/$RUN/$TEST" \
        "$ROOT/scripts/distill.sh" multi30k/small "$MODEL" "$sources" "$OUT/$1-$2" "optimization.lr=[$2]" \
        "optimization.max_update=$DISTILL_UPDATES" dataset.validate_interval_updates=100 \
        checkpoint.save_interval_updates=50 "checkpoint.patience=$PATIENCE" "${changes[@]}"
}

NUM="${TEST_NUM:-50}" SYSTEMS="beam dcmbr" RUN="$RUN" "$ROOT/scripts/multi30k/decode.sh" "$SRC" "$TGT" "$3" "$TEST"
label="$(NUM="${TEST_NUM:-50}" label dcmbr)"
names=base paths=(--path "$MODEL") records=("$DIR/decode/$RUN/$TEST/$label/pools.jsonl")
for teacher in "${teachers[@]}"; do
    for rate in "${RATES[@]}"; do
        distilled "$teacher" "$rate"
        names+=",$teacher-$rate"
        paths+=(--path "$OUT/$teacher-$rate/distilled.pt")
        records+=("$OUT/$teacher-$rate/test/distilled/$label/pools.jsonl")
    done
done

device=()
has_gpu || device=(--cpu)
dcmbr entropy "$DIR/bin" -s "$SRC" -t "$TGT" --gen-subset valid --remove-bpe --tokenizer moses "${device[@]}" "${paths[@]}" \
    --names "$names" --temperatures 1,0.5 --format tsv --output "$OUT/entropy.tsv"
temporary="$(temporary_name "$OUT/calibration.tsv")"
python -P "$ROOT/scripts/lib/calibration.py" "$DIR/raw/$TEST.$TGT" "$names" "${records[@]}" >"$temporary"
mv "$temporary" "$OUT/calibration.tsv"
cat "$OUT/entropy.tsv" "$OUT/calibration.tsv"
