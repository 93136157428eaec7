#!/bin/sh
# Slurm Prolog (slurm.conf: Prolog=/etc/slurm/prolog.d/peerless.sh): proves the job's GPUs before the job gets them.
# Slurm drains the node of a prolog that ends with anything but 0, and puts the job back into the queue.
set -u
[ -n "${SLURM_JOB_GPUS:-}" ] || exit 0
peerless-agent report --quiet --devices "$SLURM_JOB_GPUS" --timeout 60 --fail-on unknown >/dev/null
case $? in
    2) echo "peerless: a GPU of this node cannot reach another one" >&2; exit 1 ;;
    3) echo "peerless: the GPUs of this node could not be proven" >&2; exit 1 ;;
    # Slower than it should be, a report that waits, or a wrong setting: no reason to take the node away.
    *) exit 0 ;;
esac
