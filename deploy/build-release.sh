#!/usr/bin/env bash
# Builds both programs as the images hold them. The Dockerfile runs it, and so does the pipeline, so that the
# image's build is tested where there is no container engine.
#   deploy/build-release.sh OUT_DIR
set -euo pipefail
out=${1:?usage: deploy/build-release.sh OUT_DIR}
cd "$(dirname "$0")/.."
cargo build --release --locked --package peerless
# By itself: together with the server it would get the features that the server asks of the libraries that both use.
cargo build --profile agent --locked --package peerless-agent
target=${CARGO_TARGET_DIR:-target}
install -d "$out"
install -m 755 "$target/release/peerless" "$target/agent/peerless-agent" "$out/"
"$out/peerless" --version
"$out/peerless-agent" --version
