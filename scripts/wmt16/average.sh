#!/usr/bin/env bash
# WMT16 English-Romanian: scripts/wmt/average.sh, which holds the usage that this prints when it is called with nothing.
exec bash "$(dirname "$0")/../wmt/average.sh" wmt16 "$@"
