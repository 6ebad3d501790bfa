# shellcheck shell=bash
# What all pipelines share (sourced, never run): the environment, and by lib/ steps that resume (steps.sh), the way from
# text to tensors (download.sh, text.sh), training (training.sh), decoding and scoring (decode.sh).
#
# A pipeline is a list of steps; running a script again does only what is still missing.
#
# Environment: JOBS (processes for text tools, default: all cores), VENV (default: .venv in the repository), PYTHON (see
# install.sh), DCMBR_USE_VENV_AS_IS=1 (install nothing: use VENV as it stands), DEVICE (auto: the GPU if torch can use
# one; cpu; gpu: stop where there is none), CHANGED (see steps.sh).

set -euo pipefail
shopt -s inherit_errexit # a command that fails in $(...) ends the script there too

ROOT="$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)"
VENV="${VENV:-$ROOT/.venv}"
JOBS="${JOBS:-$(nproc)}"
USER_DIR="$ROOT/dcmbr_fairseq"
PRINT_ONLY="" # set by what only shows a command

# in_own_group SCRIPT ARGUMENT...: run a script as a process group, and end as it ends. A signal to this process goes to
# the whole group: bash alone would die of it and leave what it has started, a training say, running. Scripts that
# this one calls belong to its group.
in_own_group() {
    local group ended="" status
    export DCMBR_IN_GROUP=1
    [[ ! -t 0 ]] || exec </dev/null # nothing here asks the user, and only a terminal's own group may read from it
    set -m # a job in the background is a group
    "$BASH" "$@" &
    group=$!
    set +m
    for name in TERM HUP INT; do
        # shellcheck disable=SC2064  # these names, now
        trap "ended=$name; kill -$name -- -$group 2>/dev/null || true" "$name"
    done
    while true; do # a signal ends wait, not the script
        wait "$group" 2>/dev/null && status=0 || status=$?
        kill -0 "$group" 2>/dev/null || break
    done
    [[ -n "$ended" ]] || exit "$status"
    while kill -0 -- "-$group" 2>/dev/null; do sleep 0.1; done # what it has started is cleaning up
    trap - "$ended"
    kill "-$ended" $$
}
if [[ -z "${DCMBR_IN_GROUP:-}" && "${BASH_SOURCE[-1]}" == "$0" ]]; then
    in_own_group "$0" "$@"
    exit
fi

log() { printf '%s | %s\n' "$(date +%H:%M:%S)" "$*" >&2; }

die() {
    printf 'error: %s\n' "$*" >&2
    exit 1
}

# each_like VARIABLE REGEX FORM: refuse a list in which a word is not of the form, which would be passed over in silence.
each_like() {
    local word
    for word in ${!1}; do
        [[ "$word" =~ ^($2)$ ]] || die "$1 holds $word: give $3"
    done
}

# print_head FILE: the comment block at the head of a script, without its first line.
print_head() { awk 'NR > 1 && !/^#/ { exit } NR > 1 { sub(/^# ?/, ""); print }' "$1"; }

# usage FILE: print the comment block at the head of a script, and stop.
usage() {
    print_head "$1" >&2
    exit 2
}

# setup_venv [EXTRAS]: put VENV with this package and the named extras on PATH, installed first where they are not.
setup_venv() {
    [[ -n "${DCMBR_USE_VENV_AS_IS:-}" ]] || VENV="$VENV" bash "$ROOT/scripts/install.sh" "${1:-}"
    export PATH="$VENV/bin:$PATH"
    # The package that is imported is the one passed as --user-dir, also when another copy is installed.
    export PYTHONPATH="$ROOT${PYTHONPATH:+:$PYTHONPATH}"
}

# dcmbr SUBCOMMAND...: the package's command, from this repository. -P: not from the current folder.
dcmbr() { python -P -m dcmbr_fairseq.cli "$@"; }

# has_gpu: whether a GPU is to be used, as DEVICE says; torch is asked once, and only where a driver is installed,
# because importing it takes seconds. A GPU that torch cannot use is no reason to use the CPU in silence.
has_gpu() {
    case "${DEVICE:=auto}" in
        auto)
            DEVICE=cpu
            if type nvidia-smi &>/dev/null; then
                if torch_sees_gpu; then
                    DEVICE=gpu
                else
                    log "WARNING: a GPU driver is installed, but torch cannot use a GPU (see above): the CPU is used;" \
                        "DEVICE=cpu says that this is meant, DEVICE=gpu stops instead"
                fi
            fi
            export DEVICE
            ;;
        gpu) [[ -n "$PRINT_ONLY" ]] || torch_sees_gpu || die "DEVICE=gpu: torch cannot use a GPU here (see above)" ;;
        cpu) ;;
        *) die "DEVICE=$DEVICE: give auto, cpu or gpu" ;;
    esac
    [[ "$DEVICE" == gpu ]]
}

# torch_sees_gpu: whether torch can use a GPU; it says itself if the driver is too old, and we if it is built without.
torch_sees_gpu() {
    python -P -c '
import sys, torch
if not torch.version.cuda and not torch.cuda.is_available():
    print(f"torch {torch.__version__} is a build without CUDA", file=sys.stderr)
elif not torch.cuda.is_available():
    print(f"torch {torch.__version__} is built for CUDA {torch.version.cuda} and finds no device", file=sys.stderr)
sys.exit(not torch.cuda.is_available())'
}

# shellcheck source=scripts/lib/steps.sh
source "$ROOT/scripts/lib/steps.sh"
# shellcheck source=scripts/lib/download.sh
source "$ROOT/scripts/lib/download.sh"
# shellcheck source=scripts/lib/text.sh
source "$ROOT/scripts/lib/text.sh"
# shellcheck source=scripts/lib/training.sh
source "$ROOT/scripts/lib/training.sh"
# shellcheck source=scripts/lib/decode.sh
source "$ROOT/scripts/lib/decode.sh"
