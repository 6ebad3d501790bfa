#!/usr/bin/env bash
# WMT20 English-German and German-English: scripts/wmt/evaluate.sh, which holds the usage that this prints when it is called with nothing.
exec bash "$(dirname "$0")/../wmt/evaluate.sh" wmt20 "$@"
