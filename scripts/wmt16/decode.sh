#!/usr/bin/env bash
# WMT16 English-Romanian: scripts/wmt/decode.sh, which holds the usage that this prints when it is called with nothing.
exec bash "$(dirname "$0")/../wmt/decode.sh" wmt16 "$@"
