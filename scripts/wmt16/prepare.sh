#!/usr/bin/env bash
# WMT16 English-Romanian, from the publishers' files to tensors: normalise, filter, Moses tokenisation, joint BPE,
# fairseq-preprocess (608k pairs; needs 2 GB of disk).
#
#   scripts/wmt16/prepare.sh PAIR                 en-ro
#
# Environment:
#   DATA=DIR   local files under their official names instead of downloads. Training corpora, those that are there:
#                ro-en.tgz (Europarl 7)   en-ro.txt.zip (SETIMES2)
#            and the sets, SGML (.sgm) or plain text (without .sgm), either also .gz:
#                newsdev2016-enro-src.en.sgm   newsdev2016-enro-ref.ro.sgm   newstest2016-enro-src.en.sgm   ...
#   OTHER_SETS=1 accepts valid and test sets of another size than the official ones
#   ALIGNMENT_SCORES=FILE, MIN_SCORE   a score for each line of the joined corpora (WORK/PAIR/raw/corpora/*.LANG in
#            alphabetical order), as fast_align prints them: pairs below MIN_SCORE for each target word are dropped
#   WORK (work/wmt16), MERGES (32000), JOBS (all cores)
# A download that was cut off goes on, and steps that are done are skipped: run it again after any failure.

# shellcheck source=scripts/wmt/common.sh
source "$(dirname "$0")/../wmt/common.sh"
set_data_set wmt16
[[ $# == 1 ]] || usage "$0"
set_pair "$1"
setup_venv
prepare
