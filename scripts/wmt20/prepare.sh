#!/usr/bin/env bash
# WMT20 English-German, from the publishers' files to tensors: normalise, filter, Moses tokenisation, joint BPE,
# fairseq-preprocess (37M pairs; needs 200 GB of disk).
#
#   scripts/wmt20/prepare.sh PAIR                 en-de or de-en
#
# Environment:
#   DATA=DIR   local files under their official names instead of downloads. Training corpora, those that are there:
#                europarl-v10.de-en.tsv.gz   en-de.txt.gz (ParaCrawl 5.1)   training-parallel-commoncrawl.tgz
#                news-commentary-v15.de-en.tsv.gz   wikititles-v2.de-en.tsv.gz   RAPID_2019.de-en.xlf.gz
#                WikiMatrix.v1.de-en.langid.tsv.gz
#            and the sets, SGML (.sgm) or plain text (without .sgm), either also .gz:
#                newstest2019-ende-src.en.sgm   newstest2019-ende-ref.de.sgm   newstest2020-ende-src.en.sgm   ...
#   OTHER_SETS=1 accepts valid and test sets of another size than the official ones
#   ALIGNMENT_SCORES=FILE, MIN_SCORE   a score for each line of the joined corpora (WORK/PAIR/raw/corpora/*.LANG in
#            alphabetical order), as fast_align prints them: pairs below MIN_SCORE for each target word are dropped
#   WORK (work/wmt20), MERGES (32000), JOBS (all cores)
# A download that was cut off goes on, and steps that are done are skipped: run it again after any failure.

# shellcheck source=scripts/wmt/common.sh
source "$(dirname "$0")/../wmt/common.sh"
set_data_set wmt20
[[ $# == 1 ]] || usage "$0"
set_pair "$1"
setup_venv
prepare
