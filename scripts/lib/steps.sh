# shellcheck shell=bash
# Steps (sourced by lib.sh): commands that run once, and beside each output a record of what it was made from.
#
# Whatever exists under a final name is whole: a step writes to a temporary name that is renamed when its command has
# succeeded. OUTPUT.settings has a line for each thing that OUTPUT depends on, KEY <tab> VALUE:
#   MERGES        4000                        a setting
#   DATA/train.en SHA-256 <tab> size, time    a file from outside, named by a setting, or not (model.pt); read again
#                                             only where size or time have changed
#   =             SHA-256 <tab> size, time    OUTPUT itself, if it is a file: one that was replaced is no longer ours
# and all lines of those inputs that steps have made: so that bin.settings tells with how many merges bin was made.

# step NAME OUTPUT [--with SETTING...] [--from INPUT...] -- COMMAND...: run COMMAND unless OUTPUT (a file or folder)
# exists. {} in the command stands for the temporary name it must write to; OUTPUT appears only when the command has
# succeeded. A SETTING is the name of a variable, or KEY=VALUE; an INPUT a path, or VARIABLE=PATH. An OUTPUT that was
# made from others is refused, and the settings that differ are named: nothing is ever deleted or made anew over it.
step() { make_once renamed "$@"; }

# resumable_step NAME OUTPUT [--with SETTING...] [--from INPUT...] -- COMMAND...: as step, for a command that writes
# OUTPUT itself, whole or not at all, and goes on by itself where it was cut off.
resumable_step() { make_once itself "$@"; }

# make_once renamed|itself NAME OUTPUT ... -- COMMAND...: what step and resumable_step have in common.
make_once() {
    local how="$1" name="$2" output="$3" written="$3" basis=() record
    shift 3
    while [[ "$1" != -- ]]; do
        basis+=("$1")
        shift
    done
    shift
    if is_done "$name" "$output" "${basis[@]}"; then return; fi
    log "$name ..."
    record="$(made_from "$output" "${basis[@]}")"
    mkdir -p "$(dirname "$output")"
    if [[ "$how" == renamed ]]; then
        remove_leftovers "$output"
        written="$(temporary_name "$output")"
        set -- "${@//\{\}/$written}"
    fi
    "$@"
    [[ -e "$written" ]] || die "$name: the command succeeded but wrote nothing to $written"
    write_record "$output" "$written" "$record"
    [[ "$how" == itself ]] || mv "$written" "$output"
}

# temporary_name OUTPUT: a new name beside OUTPUT for what is thrown away unless it becomes OUTPUT: .NAME.xxxxxxxx.tmp.
temporary_name() { mktemp --dry-run "$(dirname "$1")/.$(basename "$1").XXXXXXXX" --suffix .tmp; }

# remove_leftovers OUTPUT: what runs that were killed have left of OUTPUT and its record under temporary names.
remove_leftovers() {
    local name
    name="$(basename "$1" | sed 's/[][?*\]/\\&/g')"
    find "$(dirname "$1")" -mindepth 1 -maxdepth 1 \
        \( -name ".$name.????????.tmp" -o -name ".$name.settings.????????.tmp" \) -exec rm -rf {} +
}

# is_done NAME OUTPUT [--with ...] [--from ...]: whether OUTPUT exists; stops where it was made from other things.
is_done() {
    local name="$1" output="$2" differences
    shift 2
    [[ -e "$output" ]] || return 1
    if [[ -f "$output.settings" ]]; then
        differences="$(differences_from "$output" "$@")" || exit 1
        [[ -z "$differences" ]] ||
            die "$name: $output was made otherwise: $differences; give what it was made with, work elsewhere (WORK, RUN)," \
                "or remove $output and what was made from it"
    else
        log "WARNING: $output has no record of the settings it was made with: it is taken as it is"
    fi
    log "$name: done already ($output)"
}

# made_from OUTPUT [--with ...] [--from ...]: the lines of a record. An existing record of OUTPUT saves reading files
# that have not changed since.
made_from() {
    local output="$1" word kind=
    shift
    for word in "$@"; do
        case "$kind$word" in
            *--with | *--from) kind="$word" ;;
            --with*) setting "$word" ;;
            --from*) input "$output.settings" "$word" ;;
        esac
    done | LC_ALL=C sort --unique
}

# setting NAME or KEY=VALUE: its line.
setting() {
    local value="${1#*=}"
    [[ "$1" == *=* ]] || value="${!1-}"
    printf '%s\t%s\n' "${1%%=*}" "${value//[$'\t\n']/ }"
}

# input RECORD [VARIABLE=]PATH: the lines of an input: those of its own record, or what the file or folder holds.
input() {
    local record="$1" path="$2" name looks known=
    [[ ! "$2" =~ ^[A-Z][A-Z0-9_]*= ]] || path="${2#*=}"
    if is_as_made "$path"; then
        sed '/^=/d' "$path.settings"
        return
    fi
    name="$(basename "$path")"
    [[ "$path" == "$2" ]] || name="${2%%=*}/$name"
    if [[ ! -e "$path" ]]; then
        printf '%s\tabsent\n' "$name"
        return
    fi
    looks="$(size_and_time "$path")"
    [[ ! -f "$record" ]] ||
        known="$(awk -F '\t' -v name="$name" -v looks="$looks" '$1 == name && $3 == looks { print $2 }' "$record")"
    [[ -n "$known" ]] || known="$(contents "$path")" || die "$path cannot be read"
    printf '%s\t%s\t%s\n' "$name" "$known" "$looks"
}

# is_as_made PATH: whether PATH has a record, and is still what the record is about.
is_as_made() {
    local self
    [[ -f "$1.settings" ]] || return 1
    self="$(sed -n 's/^=\t//p' "$1.settings")"
    [[ -z "$self" || ! -e "$1" || "${self#*$'\t'}" == "$(size_and_time "$1")" || "${self%%$'\t'*}" == "$(contents "$1")" ]]
}

# contents PATH: the SHA-256 of a file, or of the names and contents of a folder's files.
contents() {
    if [[ -d "$1" ]]; then
        (cd "$1" && find -L . -type f -print0 | LC_ALL=C sort --zero-terminated | xargs --null --no-run-if-empty sha256sum) |
            sha256sum
    else
        sha256sum <"$1"
    fi | cut -d ' ' -f 1
}

size_and_time() {
    if [[ -d "$1" ]]; then
        (cd "$1" && find -L . -type f -printf '%P %s %T@\n' | LC_ALL=C sort) | sha256sum | cut -d ' ' -f 1
    else
        stat --dereference --format '%s %.9Y' "$1"
    fi
}

# write_record OUTPUT FILE LINES: LINES, and what FILE holds, as the record of OUTPUT, unless it says that already.
write_record() {
    local temporary
    temporary="$(temporary_name "$1.settings")"
    {
        [[ -z "$3" ]] || printf '%s\n' "$3"
        [[ ! -f "$2" ]] || printf '=\t%s\t%s\n' "$(contents "$2")" "$(size_and_time "$2")"
    } >"$temporary"
    if cmp --silent "$temporary" "$1.settings"; then
        rm -f "$temporary"
    else
        mv "$temporary" "$1.settings" 2>/dev/null || [[ -f "$1.settings" ]] # another process of a training was faster
    fi
}

# differences_from OUTPUT [--with ...] [--from ...]: in what these differ from the record of OUTPUT, in words; nothing
# where they do not. Inputs that are gone cannot differ. CHANGED names keys that may.
differences_from() {
    local record="$1.settings"
    made_from "$@" | awk -F '\t' -v accepted=" ${CHANGED:-} " -v record="$record" '
        function is_file(value) { return length(value) == 64 && value !~ /[^0-9a-f]/ }
        $1 == "" || $1 == "=" || index(accepted, " " $1 " ") { next }
        FILENAME == record { was[$1 FS $2] = 1; if (!($1 in old)) order[++count] = $1; old[$1]; next }
        $2 == "absent" { absent[$1]; gone = gone " " $1; next }
        { now[$1 FS $2] = 1; if (!($1 in old) && !($1 in new)) order[++count] = $1; new[$1] }
        END {
            for (line in was) if (!(line in now)) { split(line, part, FS); lost[part[1]] = part[2] }
            for (line in now) if (!(line in was)) { split(line, part, FS); found[part[1]] = part[2] }
            for (i = 1; i <= count; i++) {
                key = order[i]
                if (key in absent || (substr(key, 1, index(key, "/")) "*") in absent) continue
                if (!(key in lost) && !(key in found)) continue
                value = key in found ? found[key] : lost[key]
                if (is_file(value)) text = key " is " (key in lost && key in found ? "another file" : key in found ? "new" : "missing")
                else if (!(key in lost)) text = key "=" value " (was not given)"
                else if (!(key in found)) text = key " is not given (was " lost[key] ")"
                else text = key "=" value " (was " lost[key] ")"
                words = words (words == "" ? "" : ", ") text
            }
            if (gone != "") print "WARNING:" gone " cannot be compared any more" >"/dev/stderr"
            print words
        }' "$record" -
}
