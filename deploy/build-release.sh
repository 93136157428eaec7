#!/usr/bin/env bash
# Builds both programs as the images hold them. The Dockerfile runs it, and so does the pipeline, so that the
# image's build is tested where there is no container engine. What the agent's packages hold beside the program lies in
# `share` beside it then.
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
share=$target/agent/share
install -d "$share"
"$target/agent/peerless-agent" man >"$share/peerless-agent.1"
"$target/agent/peerless-agent" completions bash >"$share/peerless-agent.bash"
"$target/agent/peerless-agent" completions zsh >"$share/_peerless-agent"
"$target/agent/peerless-agent" completions fish >"$share/peerless-agent.fish"
"$out/peerless" --version
"$out/peerless-agent" --version
