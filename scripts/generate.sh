#!/usr/bin/env bash
# Decode a test set with many processes, on this machine or as a batch job of Slurm; the same command goes on after any end.
#
#   scripts/generate.sh OUT DATA --path MODEL [FLAGS of fairseq-generate...]                  on this machine
#   sbatch --array=0-7 --gpus=1 scripts/generate.sh OUT DATA --path MODEL ...                 eight jobs, one GPU each
#   sbatch --ntasks=8 --gpus-per-task=1 scripts/generate.sh OUT DATA --path MODEL ...         one job of eight tasks
#
# OUT gets records.RANK-of-COUNT.jsonl.gz, one a process; join them with
#   dcmbr merge OUT/records.*-of-8.jsonl.gz --output all.jsonl.gz --translations all.txt
# Submit from the repository's folder, or set DCMBR_ROOT: Slurm runs a copy of this file from elsewhere. A job that is
# near its end is told by TERM, finishes its batch and ends with status 75: submit it again, and it goes on.
# Environment: PROCESSES on this machine (default: one a GPU, or 1), DCMBR_ROOT, VENV (.venv in the repository).
#SBATCH --job-name=dcmbr-generate
#SBATCH --signal=TERM@120
#SBATCH --open-mode=append

for repository in "${DCMBR_ROOT:-$(dirname "$0")/..}" "${SLURM_SUBMIT_DIR:-.}"; do
    if [[ -f "$repository/scripts/lib.sh" ]]; then
        # shellcheck source=scripts/lib.sh
        source "$repository/scripts/lib.sh"
        break
    fi
done
[[ -n "${ROOT:-}" ]] || {
    echo "error: the repository is not found: submit from its folder, or set DCMBR_ROOT" >&2
    exit 1
}
[[ $# -ge 2 ]] || usage "$ROOT/scripts/generate.sh"
OUT="$1"
shift
setup_venv
has_gpu || set -- "$@" --cpu

command=(python -P -m dcmbr_fairseq.cli generate "$@" --output "$OUT")
if [[ -n "${SLURM_ARRAY_TASK_ID:-}" && "${SLURM_NTASKS:-1}" -le 1 || -n "${SLURM_STEP_NUM_TASKS:-}" ]]; then
    exec "${command[@]}" # Slurm says which process this is
elif [[ -n "${SLURM_JOB_ID:-}" ]]; then
    exec srun "${command[@]}"
fi
if [[ -z "${PROCESSES:-}" ]]; then
    PROCESSES=1
    ! has_gpu || PROCESSES="$(nvidia-smi --list-gpus | wc -l)"
fi
exec "${command[@]}" --processes "$PROCESSES"
