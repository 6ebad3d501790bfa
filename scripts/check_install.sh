#!/usr/bin/env bash
# Try to install this checkout with every installer on every Python given, each in an environment that is thrown away.
#   scripts/check_install.sh PYTHON...       for instance: scripts/check_install.sh python3.11 python3.12
# For each Python: pip 23, the newest pip, and uv. A trial passes if, away from the checkout, a toy model is trained
# with fairseq-train and decoded with DC-MBR, the package installed alone and passed as --user-dir as well. A trial
# needs up to 8 GB of disk, and downloads as much, where a CUDA build of torch is chosen: PIP_FIND_LINKS and
# UV_FIND_LINKS, which pip and uv know, can name a folder of wheels instead. INSTALLERS="pip uv" tries only these.
# One line for each trial:
#   ok|FAILED  Python  installer  torch  numpy  seconds
set -euo pipefail

if [[ $# -eq 0 ]]; then
    sed -n '2,9s/^# //p' "$0" >&2
    exit 2
fi
cd "$(dirname "$0")/.."
scratch=$(mktemp -d)
trap 'rm -rf "$scratch"' EXIT

copy_checkout() { # an installation in the checkout itself would leave build/, whose stale files a later one would take
    mkdir "$scratch/checkout"
    git ls-files -z --cached --others --exclude-standard | xargs -0 cp --parents -t "$scratch/checkout"
}

install_with() { # INSTALLER PYTHON ENVIRONMENT
    case $1 in
        pip | pip23)
            "$2" -I -m venv "$3"
            if [[ $1 == pip23 ]]; then
                "$3/bin/pip" install --quiet 'pip==23.*'
            else
                "$3/bin/pip" install --quiet --upgrade pip
            fi
            "$3/bin/pip" install --quiet "$scratch/checkout"
            ;;
        uv)
            "$2" -I -m venv "$scratch/uv"
            "$scratch/uv/bin/pip" install --quiet uv
            "$scratch/uv/bin/uv" venv --quiet --python "$2" "$3"
            "$scratch/uv/bin/uv" pip install --quiet --python "$3/bin/python" "$scratch/checkout"
            ;;
        *)
            echo "check_install.sh: error: unknown installer $1 in INSTALLERS: use pip23, pip or uv" >&2
            exit 2
            ;;
    esac
}

train_toy() { # 23 sentences, so that the last batch is not a full one
    local i
    for ((i = 1; i <= 23; i++)); do
        echo "this is number $i" >>toy.en
        echo "das ist Nummer $i" >>toy.de
    done
    fairseq-preprocess -s en -t de --trainpref toy --validpref toy --testpref toy --destdir data-bin &>preprocess.log
    fairseq-train data-bin --user-dir "$1" --arch transformer_iwslt_de_en --criterion label_smoothed_cross_entropy \
        --optimizer adam --lr 0.001 --max-tokens 200 --max-update 6 --save-dir models --cpu &>train.log
}

decode() { # OUTPUT COMMAND...
    local output=$1
    shift
    "$@" data-bin --path models/checkpoint_last.pt --task translation_dcmbr --decoding dcmbr --num-hyp 8 \
        --batch-size 16 --max-len-b 20 --cpu >"$output" 2>"$output.log"
    if [[ $(grep -c '^D-' "$output") -ne 23 ]]; then
        echo "check_install.sh: $output holds $(grep -c '^D-' "$output") of 23 translations" >&2
        exit 1
    fi
}

trial() { # INSTALLER PYTHON FOLDER
    mkdir "$3"
    install_with "$1" "$2" "$3/environment"
    cd "$3"
    export PATH=$3/environment/bin:$PATH
    local package
    package=$(python -P -c 'import dcmbr_fairseq, pathlib; print(pathlib.Path(dcmbr_fairseq.__file__).parent)')
    [[ $package == "$3"/environment/* ]]
    dcmbr --help >help.txt
    train_toy "$package"
    decode both.txt fairseq-generate --user-dir "$package"
    decode installed.txt python -P -c 'import dcmbr_fairseq; from fairseq_cli.generate import cli_main; cli_main()'
    diff <(grep '^D-' both.txt) <(grep '^D-' installed.txt)
}

versions() { # ENVIRONMENT: torch and numpy
    local code='from importlib.metadata import version as v; print("torch", v("torch"), " numpy", v("numpy"))'
    "$1/bin/python" -P -c "$code" 2>/dev/null || echo "torch -  numpy -"
}

copy_checkout
failures=0
for python in "$@"; do
    for installer in ${INSTALLERS:-pip23 pip uv}; do
        folder=$scratch/trial
        SECONDS=0
        trial "$installer" "$python" "$folder" &
        if wait $!; then # in the background, because 'set -e' has no force inside an 'if'
            result=ok
        else
            result=FAILED
            failures=$((failures + 1))
            tail -n 20 "$folder"/*.log >&2 || true
        fi
        echo "$result  $("$python" -V)  $installer  $(versions "$folder/environment")  $SECONDS s"
        rm -rf "$folder" "$scratch/uv"
    done
done
exit $((failures > 0))
