# shellcheck shell=bash
# Getting text (sourced by lib.sh): downloads that resume and are verified, archives, and text in which \n alone ends a line.

# download URL OUTPUT [SHA256]: fetch a file; a transfer that was cut off goes on. OUTPUT appears when what came has the
# checksum, if one is given, and is a whole archive, if its name says that it is one; otherwise it is removed and named.
download() {
    local url="$1" output="$2" checksum="${3:-}" incoming="$2.incoming" fault=
    [[ -e "$output" ]] && return
    mkdir -p "$(dirname "$output")"
    log "download $url"
    fetch "$url" "$incoming" ||
        die "could not download $url: run this again to resume, or give local files with DATA=dir"
    if [[ -n "$checksum" ]] && ! echo "$checksum  $incoming" | sha256sum --check --status; then
        fault="does not have the expected SHA-256 $checksum"
    fi
    fault="${fault:-$(archive_fault "$incoming" "$output")}"
    if [[ -n "$fault" ]]; then
        rm -f "$incoming"
        die "what came from $url $fault: it was removed; run this again, or give local files with DATA=dir"
    fi
    mv "$incoming" "$output"
}

# fetch URL FILE: go on with FILE, or begin it. Where the server has nothing to add, FILE must be as long as the server's;
# where it cannot continue, or FILE is longer, it comes from the beginning.
fetch() {
    local status=0 size
    get_from_end "$1" "$2" || status=$?
    size="$(whole_size "$2.headers")"
    rm -f "$2.headers"
    [[ -z "$size" || "$size" != "$(stat --format %s "$2")" ]] || return 0
    if [[ -n "$size" || $status == 33 || $status == 36 ]]; then # 33, 36: curl cannot resume
        rm -f "$2"
        status=0
        get_from_end "$1" "$2" || status=$?
        rm -f "$2.headers"
    fi
    return "$status"
}

get_from_end() {
    curl --fail --location --silent --show-error --retry 5 --retry-delay 5 --continue-at - --dump-header "$2.headers" \
        --output "$2" "$1"
}

# whole_size HEADERS: the size of the server's file, where it answered 416: there is nothing after the end of ours.
whole_size() {
    [[ ! -f "$1" ]] || awk 'tolower($1) ~ /^http/ { refused = $2 == 416; size = "unknown" }
        tolower($1) == "content-range:" { sub(/.*\//, ""); sub(/\r$/, ""); size = $0 }
        END { if (refused) print size }' "$1"
}

# archive_fault FILE NAME: what is wrong with FILE as an archive of the kind that NAME's ending says; nothing if it is whole.
archive_fault() {
    local kind
    case "$2" in
        *.tgz | *.tar.gz)
            kind="gzipped tar archive"
            if gzip --test <"$1" 2>/dev/null && tar --list --gzip --file "$1" &>/dev/null; then return; fi
            ;;
        *.tar)
            kind="tar archive"
            if tar --list --file "$1" &>/dev/null; then return; fi
            ;;
        *.zip)
            kind="zip archive"
            if python -P -c 'import sys, zipfile; sys.exit(zipfile.ZipFile(sys.argv[1]).testzip())' "$1" 2>/dev/null; then return; fi
            ;;
        *.gz)
            kind="gzip file"
            if gzip --test <"$1" 2>/dev/null; then return; fi
            ;;
        *) return ;;
    esac
    if head --bytes=1000 "$1" | grep --quiet --ignore-case --text -e '<html' -e '<!doctype'; then
        echo "is no $kind but a web page"
    else
        echo "is no whole $kind"
    fi
}

# find_text STEM: print STEM or STEM.gz, whichever is a file; fails if neither is.
find_text() {
    local name
    for name in "$1" "$1.gz"; do
        if [[ -f "$name" ]]; then
            echo "$name"
            return
        fi
    done
    return 1
}

# data_basis FILE...: in BASIS, for step, where text comes from: local FILEs of DATA, or downloads.
data_basis() {
    BASIS=(--with "DATA=downloads")
    [[ -n "${DATA:-}" ]] || return 0
    BASIS=(--with "DATA=local files")
    [[ -d "$DATA" ]] || BASIS+=("DATA/*=absent")
    BASIS+=(--from "${@/#/DATA=}")
}

# one_line_each: a filter. Only \n ends a line in our files, but the tools that follow also break lines at \r, vertical
# tabs, U+0085, U+2028 and the like: these become spaces, so that lines stay aligned.
one_line_each() {
    LC_ALL=C sed -e 's/\r$//' -e 's/[\r\v\f\x1c-\x1e]/ /g' -e 's/\xc2\x85/ /g' -e 's/\xe2\x80[\xa8\xa9]/ /g'
}

# read_text FILE: the lines of plain or .gz text.
read_text() {
    case "$1" in
        *.gz) gzip --decompress --stdout "$1" || die "$1 is no whole gzip file: fetch it again" ;;
        *) cat "$1" ;;
    esac | one_line_each
}

count_lines() { wc -l <"$1" | tr -d ' '; }

# assert_aligned FILE...: all files must have as many lines as the first, and at least one.
assert_aligned() {
    local file first expected actual
    first="$1"
    expected="$(count_lines "$first")"
    ((expected > 0)) || die "$first is empty"
    for file in "$@"; do
        actual="$(count_lines "$file")"
        ((actual == expected)) || die "not aligned: $first has $expected lines, $file has $actual"
    done
}
