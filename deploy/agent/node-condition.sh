#!/bin/sh
# For node-problem-detector's custom plugin: 0 no problem, 1 a problem, 2 not known. It reads the last
# result only, and only a daemon with `active = true` writes one that proves anything: without it the answer is 2.
set -u
peerless-agent status --fail-on unknown 2>&1
case $? in
    0 | 1) exit 0 ;;
    2) exit 1 ;;
    *) exit 2 ;;
esac
