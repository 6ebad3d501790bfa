# shellcheck shell=bash
# WMT20 English-German and German-English (sourced by scripts/wmt/common.sh): where the data come from, and how large the sets are.
# shellcheck disable=SC2034  # the variables are used by the scripts that source this

DATASET=wmt20
PAIRS=(en-de de-en)
VALID_SET=wmt19 # newstest2019, by sacreBLEU's name, which fetches it and knows its checksum
TEST_SET=wmt20
SCORE_FLAGS="${SCORE_FLAGS:-}"

# Training corpora, one a line: file, how to take German and English out of it (see corpus_side), where it is. Their
# publishers give no checksums; gzip's own are verified.
CORPUS_LANGS=(de en)
CORPORA="
europarl-v10.de-en.tsv.gz  column:1  column:2  https://www.statmt.org/europarl/v10/training
en-de.txt.gz  column:2  column:1  https://s3.amazonaws.com/web-language-models/paracrawl/release5.1
training-parallel-commoncrawl.tgz  member:commoncrawl.de-en.de  member:commoncrawl.de-en.en  https://www.statmt.org/wmt13
news-commentary-v15.de-en.tsv.gz  column:1  column:2  https://data.statmt.org/news-commentary/v15/training
wikititles-v2.de-en.tsv.gz  column:1  column:2  https://data.statmt.org/wikititles/v2
RAPID_2019.de-en.xlf.gz  xlf:source  xlf:target  https://data.statmt.org/wmt20/translation-task/rapid
WikiMatrix.v1.de-en.langid.tsv.gz  column:2  column:3  https://data.statmt.org/wmt20/translation-task/WikiMatrix
"

# expected_lines PAIR SET: the official number of segments (the paper's table of data sets).
expected_lines() {
    case "$1 $2" in
        "en-de valid") echo 1997 ;;
        "de-en valid") echo 2000 ;;
        "en-de test") echo 1418 ;;
        "de-en test") echo 785 ;;
    esac
}
