# shellcheck shell=bash
# Training and averaging (sourced by lib.sh): what a run leaves for the steps after it.
#
# SAVE_DIR/training.settings is the record of a training as steps.sh has it: the flags on which the model depends, and
# what its data were made from. SAVE_DIR/finished says how far it came: updates, and the max_update and max_epoch that
# were asked for.

# Flags that say how a training runs, not what it learns: they may change while it goes on.
FREE_FLAGS=" --save-dir --user-dir --max-update --max-epoch --stop-time-hours --total-num-update --log-format
 --log-interval --log-file --num-workers --cpu --finetune-from-model --save-interval --save-interval-updates
 --keep-interval-updates --keep-last-epochs --keep-best-checkpoints --no-epoch-checkpoints --validate-interval
 --validate-interval-updates --max-valid-steps --distributed-world-size --distributed-num-procs --distributed-rank
 --distributed-backend --distributed-init-method --distributed-port --distributed-no-spawn --ddp-backend --device-id
 --local-rank --nprocs-per-node --tensorboard-logdir --wandb-project "

# list_configs: the names that scripts/train.sh takes.
list_configs() {
    (cd "$ROOT/configs" && find . -mindepth 2 -name '*.yaml' -not -path './common/*' -not -path './recipe/*' -printf '%P\n') |
        sed 's/\.yaml$//' | sort | paste -sd ' '
}

# flag NAME FLAG...: the value of a flag among the words of a command; nothing if it is not there.
flag() {
    local name="$1"
    shift
    while [[ $# -gt 0 && "$1" != "$name" ]]; do shift; done
    [[ $# -lt 2 ]] || echo "$2"
}

# lasting_flags FLAG...: those that are not FREE_FLAGS as KEY=VALUE, one a line.
lasting_flags() {
    local free="${FREE_FLAGS//$'\n'/ }" key value
    while [[ $# -gt 0 ]]; do
        key="$1" value=yes
        shift
        if [[ $# -gt 0 && "$1" != --* ]]; then
            value="$1"
            shift
        fi
        [[ "$free" == *" $key "* ]] || echo "$key=$value"
    done
}

# basis_of_flags DATA FLAG...: in BASIS, for step, what a training by these words of fairseq-train depends on.
basis_of_flags() {
    local settings base
    mapfile -t settings < <(lasting_flags "${@:2}")
    BASIS=(--with "${settings[@]}" --from "$1")
    base="$(flag --finetune-from-model "$@")"
    [[ -z "$base" ]] || BASIS+=("$base")
}

# finished SAVE_DIR NAME: a number in SAVE_DIR/finished; nothing if it does not stand there.
finished() { [[ ! -f "$1/finished" ]] || awk -v name="$2" '$1 == name { print $2 }' "$1/finished"; }

# last_saved LOG: the number of updates of the last checkpoint that a log of fairseq's tells of; nothing if there is none.
last_saved() {
    [[ ! -f "$1" ]] || sed -n 's/.*Saved checkpoint .*\.pt (epoch [0-9]* @ \([0-9]*\) updates.*/\1/p' "$1" | tail -n 1
}

# show_progress MAX_UPDATE: of a training log, what tells how far it is; on a terminal as a bar with the remaining time.
show_progress() { python -P "$ROOT/scripts/lib/progress.py" "$1"; }

# training_basis SAVE_DIR: in BASIS, for step, what the checkpoints of a run depend on.
training_basis() {
    BASIS=(--from "$1/checkpoint_last.pt") # trained by other means than scripts/train.sh
    [[ ! -f "$1/training.settings" ]] || BASIS=(--with "updates=$(finished "$1" updates)" --from "$1/training")
}

# checkpoint_basis CHECKPOINT: in BASIS, for step, what a checkpoint depends on.
checkpoint_basis() {
    BASIS=(--from "$1")
    [[ -f "$1.settings" || "$1" != */checkpoint_last.pt ]] || training_basis "$(dirname "$1")"
}

# average_run SAVE_DIR OUTPUT: the mean of the last AVERAGE checkpoints of a run that has come to its end.
average_run() {
    [[ -f "$1/finished" || ! -f "$1/training.settings" ]] ||
        die "the training in $1 has not come to its end: run train.sh again" \
            "(dcmbr average $1 --last $AVERAGE --output FILE averages what is there)"
    training_basis "$1"
    step "average the last $AVERAGE checkpoint(s) of $(basename "$1")" "$2" --with AVERAGE "${BASIS[@]}" -- \
        average_last "$AVERAGE" "$1" {}
}

# average_last N SAVE_DIR OUTPUT: average the last N checkpoints of a run.
average_last() {
    dcmbr average "$2" --last "$1" --output "$3" || die "AVERAGE=$1: give the number of checkpoints to average, such as AVERAGE=1"
}

# settle_slurm FLAG...: what fairseq is to see of Slurm. Within a job it takes Slurm's number of tasks for its processes.
# Where no launcher, port or address says that several tasks train together, this is one training on one machine,
# which fairseq spreads over its GPUs by itself; where one does, a number that Slurm leaves open is one task a machine.
settle_slurm() {
    [[ -n "${SLURM_JOB_NODELIST:-}${SLURM_STEP_NODELIST:-}" ]] || return 0
    local together="${LAUNCH:-}" name
    for name in --distributed-port --distributed-init-method; do together+="$(flag "$name" "$@")"; done
    if [[ -z "$together" ]]; then
        unset SLURM_JOB_NODELIST SLURM_STEP_NODELIST
    else
        export SLURM_NTASKS="${SLURM_NTASKS:-${SLURM_NNODES:-1}}" SLURM_NODEID="${SLURM_NODEID:-0}"
    fi
}
