# shellcheck shell=bash
# What the mBART-50 scripts agree on (sourced after lib.sh): languages, data sets and their sizes, how to decode.
# shellcheck disable=SC2034  # the variables are used by the scripts that source this

WORK="${WORK:-$ROOT/work/mbart50}"
TEST="${TEST:-newstest2016}"
LIMIT="${LIMIT:-0}"
SYSTEMS="${SYSTEMS:-beam mbr dcmbr}"
SIZES="${SIZES:-10 50}"
BEAM_FLAGS="${BEAM_FLAGS:---beam 5}"
# Draws that are decoded at once: with half precision these fit a GPU of 16 GiB (docs/mbart50.md has the sum).
MAX_ROWS="${MAX_ROWS:-400}"

# The paper's directions, and what else Multi30k has.
WMT16_DIRECTIONS=(en-de de-en en-cs cs-en en-ro ro-en en-ru ru-en en-fi fi-en)
# Our name of a language, the model's, and that of files with three letters.
LANGUAGES="
de de_DE deu
cs cs_CZ ces
en en_XX eng
fi fi_FI fin
fr fr_XX fra
ro ro_RO ron
ru ru_RU rus
"
# The languages of mBART-50 in the order of its ML50_langs.txt: it gives the language tokens their numbers.
ML50_LANGS=(ar_AR cs_CZ de_DE en_XX es_XX et_EE fi_FI fr_XX gu_IN hi_IN it_IT ja_XX kk_KZ ko_KR lt_LT lv_LV my_MM ne_NP
    nl_XX ro_RO ru_RU si_LK tr_TR vi_VN zh_CN af_ZA az_AZ bn_IN fa_IR he_IL hr_HR id_ID ka_GE km_KH mk_MK ml_IN mn_MN
    mr_IN pl_PL ps_AF pt_XX sv_SE sw_KE ta_IN te_IN th_TH tl_XX uk_UA ur_PK xh_ZA gl_ES sl_SI)

# language COLUMN NAME: the model's name (2) or the three letters (3) of a language.
language() { awk -v column="$1" -v name="$2" '$1 == name { print $column }' <<<"$LANGUAGES"; }

# set_direction SRC-TGT: the languages and folders of a direction; results of the first LIMIT sentences lie apart.
set_direction() {
    SRC="${1%-*}"
    TGT="${1#*-}"
    SOURCE="$(language 2 "$SRC")"
    TARGET="$(language 2 "$TGT")"
    [[ "$1" == *-* && -n "$SOURCE" && -n "$TARGET" && "$SRC" != "$TGT" ]] ||
        die "unknown direction $1: give one of ${WMT16_DIRECTIONS[*]}, or another of these languages"
    NAME="$TEST"
    ((LIMIT == 0)) || NAME+="-first$LIMIT"
    DIR="$WORK/$NAME/$1"
}

# set_release: MBART50 must be laid out as released.
set_release() {
    local file
    [[ -n "${MBART50:-}" ]] || die "MBART50 is not set: give the folder of the fairseq release of mBART-50"
    for file in model.pt sentence.bpe.model ML50_langs.txt "dict.$SOURCE.txt" "dict.$TARGET.txt"; do
        [[ -f "$MBART50/$file" ]] || die "$MBART50 lacks $file: give the folder of the fairseq release of mBART-50"
    done
}

# valid_set SRC-TGT: the paper's validation set of a direction.
valid_set() {
    case "$1" in
        *ro*) echo newsdev2016 ;;
        *fi*) echo newsdev2015 ;;
        ru-en) echo newstest2014 ;;
        *) echo newstest2015 ;;
    esac
}

# official_lines SET SRC-TGT: its number of segments as the paper's table of data sets has it; nothing if it is not there.
official_lines() {
    case "$1/$2" in
        newstest2016/*ru*) echo 2998 ;;
        newstest2016/*fi*) echo 3000 ;;
        newstest2016/*ro* | newsdev2016/*ro*) echo 1999 ;;
        newstest2016/*) echo 2999 ;;
        newstest2015/*de*) echo 2169 ;;
        newstest2015/*cs*) echo 2656 ;;
        newstest2015/en-ru) echo 2818 ;;
        newstest2014/ru-en) echo 3003 ;;
        newsdev2015/*fi*) echo 1500 ;;
    esac
}

# segment MODEL INPUT OUTPUT: text in the pieces of a sentencepiece model.
segment() { in_parallel "$2" "$3" python -P -c "$SEGMENT" "$1"; }
SEGMENT='
import sys
import sentencepiece
model = sentencepiece.SentencePieceProcessor(model_file=sys.argv[1])
sys.stdin.reconfigure(newline="\n", encoding="utf-8")
for line in sys.stdin:
    print(" ".join(model.encode(line.rstrip("\n"), out_type=str)))
'
