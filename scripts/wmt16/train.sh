#!/usr/bin/env bash
# WMT16 English-Romanian: scripts/wmt/train.sh, which holds the usage that this prints when it is called with nothing.
exec bash "$(dirname "$0")/../wmt/train.sh" wmt16 "$@"
