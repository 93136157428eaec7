#!/bin/sh
# Slurm Prolog (slurm.conf: Prolog=/etc/slurm/prolog.d/peerless.sh): proves the job's GPUs before the job gets them.
# What is done with the result stands in [gate] of /etc/peerless-agent.toml. As shipped it is only said (shadow).
#
# Slurm drains the node of a prolog that ends with anything but 0. So it ends with 1 only where the node is drained
# already. All else that the agent may end with (missing, killed, wrong settings) drains nothing.
set -u
# Slurm gives its scripts no PATH.
PATH=${PATH:-/usr/sbin:/usr/bin:/sbin:/bin}
export PATH
peerless-agent gate prolog
code=$?
case $code in
    0) exit 0 ;;
    1) exit 1 ;;
esac
logger -p daemon.warning -t peerless-agent "gate prolog: ALERT: could not tell: the agent ended with $code" 2>/dev/null
exit 0
