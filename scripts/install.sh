#!/usr/bin/env bash
# Make a virtual environment and install this checkout into it with the extras given, unless all that stands already.
#   scripts/install.sh [EXTRA[,EXTRA...]]    for instance: scripts/install.sh demo
# Environment: VENV, the folder (default: .venv in the repository); PYTHON, the interpreter that a new one is made with
# (default: the first of python3, python3.12, python3.11 that will do).
set -euo pipefail

if [[ $# -gt 1 || ${1:-} == -* ]]; then
    sed -n '2,5s/^# //p' "$0" >&2
    exit 2
fi
extras=${1:-}
cd "$(dirname "$0")/.."
venv=${VENV:-$PWD/.venv}

# Debian's Python comes without ensurepip, and cannot make an environment then.
suits() { "$1" -I -c 'import sys, venv, ensurepip; sys.exit(not (3, 11) <= sys.version_info < (3, 13))' 2>/dev/null; }

find_python() {
    local candidate
    for candidate in ${PYTHON:-python3 python3.12 python3.11}; do
        if suits "$candidate"; then
            echo "$candidate"
            return
        fi
    done
    echo "install.sh: error: ${PYTHON:-no python3 found} is not Python 3.11 or 3.12 with venv: name one, PYTHON=..." >&2
    exit 1
}

# What an installation depends on, in one line; the folder too, because an editable installation points to it.
wanted() { { pwd && cat setup.py scripts/fairseq.lock scripts/install.sh; } | sha256sum; }

if [[ ! -e $venv ]]; then
    python=$(find_python)
    "$python" -I -m venv "$venv"
fi
exec 9>"$venv/install.lock"
flock 9 # two scripts started at once install once
stamp=$venv/installed-${extras//,/-}
if [[ -f $stamp && $(wanted) == "$(cat "$stamp")" ]]; then
    exit 0
fi

if ! suits "$venv/bin/python"; then
    echo "install.sh: error: $venv is broken, or not of Python 3.11 or 3.12: remove that folder, run this again" >&2
    exit 1
fi
pip=("$venv/bin/python" -P -m pip)
"${pip[@]}" --version >/dev/null 2>&1 || "$venv/bin/python" -P -m ensurepip >/dev/null # uv makes environments without pip
echo "Installing dcmbr_fairseq${extras:+[$extras]} into $venv (the first time takes some minutes) ..." >&2
"${pip[@]}" install --quiet --no-deps --require-hashes -r scripts/fairseq.lock
"${pip[@]}" install --quiet --editable ".${extras:+[$extras]}"
wanted >"$stamp"
