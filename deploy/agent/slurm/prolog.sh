#!/bin/sh
# Slurm Prolog (slurm.conf: Prolog=/etc/slurm/prolog.d/peerless.sh): proves the job's GPUs before the job gets them.
# Slurm drains the node of a prolog that ends with anything but 0, and puts the job back into the queue.
# It needs no settings. Where /etc/peerless-agent.toml names a `server`, each proof is uploaded.
set -u
case ${SLURM_JOB_GPUS:-} in
    *,*) ;;
    # No GPU, or one: there is no pair to prove.
    *) exit 0 ;;
esac

prove() {
    said=$(peerless-agent "$1" --quiet --devices "$SLURM_JOB_GPUS" --timeout 60 --fail-on unknown 2>&1 >/dev/null)
    code=$?
}

prove report
# Without a server `report` ends with 64 before a GPU is touched.
[ $code -ne 64 ] || prove probe
case $code in
    2) echo "peerless: a GPU of this node cannot reach another one: $said" >&2; exit 1 ;;
    3)
        case $said in
            # Another run held the lock all the time: that is no fault of the node.
            *"is probing this node"*) exit 0 ;;
        esac
        echo "peerless: the GPUs of this node could not be proven: $said" >&2
        exit 1
        ;;
    64) echo "peerless: $said" >&2; exit 0 ;;
    # Slower than it should be, or a report that waits: no reason to take the node away.
    *) exit 0 ;;
esac
