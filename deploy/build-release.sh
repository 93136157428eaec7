#!/usr/bin/env bash
# Builds both programs as the images hold them, and the agent's packages where told to. The Dockerfile runs it, and so does
# the pipeline, so that the image's build is tested where there is no container engine. The agent, which goes to all
# kinds of nodes, starts with glibc 2.17 or newer; the server with that of the machine that builds it.
#   deploy/build-release.sh OUT_DIR [packages]
# It needs Rust, a C compiler, and Python with pip and venv, for packages dpkg-deb, too; `cargo xtask release OUT_DIR` checks what comes of it.
set -euo pipefail
out=${1:?usage: deploy/build-release.sh OUT_DIR [packages]}
cd "$(dirname "$0")/.."
target=${CARGO_TARGET_DIR:-target}
tools=$target/release-tools
triple=$(uname -m)-unknown-linux-gnu
glibc=2.17

cargo build --release --locked --package peerless
python3 -m venv "$tools"
"$tools/bin/pip" install --quiet --disable-pip-version-check --only-binary :all: \
    --require-hashes --requirement deploy/build-requirements.txt
# By itself: together with the server it would get the features that the server asks of the libraries that both use.
PATH=$(cd "$tools/bin" && pwd):$PATH cargo zigbuild --profile agent --locked --target "$triple.$glibc" --package peerless-agent
install -d "$out"
install -m 755 "$target/release/peerless" "$target/$triple/agent/peerless-agent" "$out/"
"$out/peerless" --version
"$out/peerless-agent" --version
if [ "${2-}" = packages ]; then
    cargo xtask package "$out"
fi
