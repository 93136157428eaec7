#!/usr/bin/env bash
# Builds both programs as the images and packages hold them. The Dockerfile runs it, and so does `cargo xtask release`, so
# that the image's build is tested where there is no container engine. Both start with glibc 2.17 or newer.
#   deploy/build-release.sh [--without-tab] OUT_DIR [TRIPLE]
# It needs Rust, a C compiler, Python with pip and venv, and what `cargo xtask wasm` builds the module for browsers with: Debian's packages
# rustc-web, rust-web-src and lld. With --without-tab the server has no module: browsers send it logs, and it writes no sites. RUSTC may name a compiler with the standard library of TRIPLE.
# The same commit and the same compiler are to give the same bytes, wherever they are built: paths of this machine are replaced.
set -euo pipefail
tab=yes
if [ "${1:-}" = --without-tab ]; then
    tab=no
    shift
fi
out=${1:?usage: deploy/build-release.sh [--without-tab] OUT_DIR [TRIPLE]}
triple=${2:-$(uname -m)-unknown-linux-gnu}
case $triple in
*-unknown-linux-gnu) ;;
*) echo "deploy/build-release.sh: $triple is no target that is built here: x86_64-unknown-linux-gnu or aarch64-unknown-linux-gnu" >&2 && exit 64 ;;
esac
mkdir -p "$out"
out=$(cd "$out" && pwd)
cd "$(dirname "$0")/.."
mkdir -p "${CARGO_TARGET_DIR:-target}"
target=$(cd "${CARGO_TARGET_DIR:-target}" && pwd)
tools=$target/release-tools
glibc=2.17

# The module is the same for every target. It is built before the flags below are set: it has its own.
if [ "$tab" = yes ]; then
    env -u RUSTC cargo xtask wasm "$target/tab" || {
        echo "deploy/build-release.sh: there is no module for browsers: install what is named above, or build without it: --without-tab" >&2
        exit 1
    }
    export PEERLESS_TAB_MODULE=$target/tab
else
    echo "deploy/build-release.sh: --without-tab: this server has no module for browsers" >&2
    unset PEERLESS_TAB_MODULE
fi

homes=("$PWD=/peerless" "$target=/peerless/target" "${CARGO_HOME:-$HOME/.cargo}=/cargo")
# Separated by 0x1f, for paths may have blanks.
CARGO_ENCODED_RUSTFLAGS=
# mimalloc prints the day on which it was compiled.
c_flags=' -Wno-builtin-macro-redefined -D__DATE__="unknown"'
for home in "${homes[@]}"; do
    CARGO_ENCODED_RUSTFLAGS+=${CARGO_ENCODED_RUSTFLAGS:+$'\x1f'}--remap-path-prefix=$home
    c_flags+=" -ffile-prefix-map=$home"
done
export CARGO_ENCODED_RUSTFLAGS CARGO_INCREMENTAL=0
export "CFLAGS_${triple//-/_}=$c_flags"
SOURCE_DATE_EPOCH=${SOURCE_DATE_EPOCH:-$(git log -1 --format=%ct 2> /dev/null || echo 0)}
export SOURCE_DATE_EPOCH

python3 -m venv "$tools"
"$tools/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: \
    --require-hashes --requirement deploy/build-requirements.txt
PATH=$(cd "$tools/bin" && pwd):$PATH
# Each by itself: together the agent would get the features that the server asks of the libraries that both use. Both at once: what is
# optimised as a whole runs on one processor at the end.
set -m
cargo zigbuild --profile server --locked --target "$triple.$glibc" --package peerless &
server=$!
trap 'kill -- "-$server" 2> /dev/null || true' EXIT
cargo zigbuild --profile agent --locked --target "$triple.$glibc" --package peerless-agent
wait "$server"
trap - EXIT
install -m 755 "$target/$triple/server/peerless" "$target/$triple/agent/peerless-agent" "$out/"
