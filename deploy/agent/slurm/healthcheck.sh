#!/bin/sh
# Slurm HealthCheckProgram (slurm.conf: HealthCheckProgram=/etc/slurm/peerless-health.sh, HealthCheckInterval=300,
# HealthCheckNodeState=ANY). Slurm kills it after 60 s and does nothing with its exit code. It reads what the daemon
# (peerless-agent.service) found last; no GPU is touched, also beside a running job. A daemon that is not there, or
# has missed three looks, is told as "could not tell", which drains nothing.
#
# What is done with a fault stands in [gate] of /etc/peerless-agent.toml. As shipped it is only said (shadow).
# A result drains once: a node that was repaired and resumed is drained again only by a later result. After a repair
# `peerless-agent admit` (about six minutes, all GPUs to itself) says whether it may be resumed, ends faults of the hardware
# and leaves its result for this script; `peerless-agent daemon --once --active --idle-minutes 0` makes one without load.
set -u
# Slurm gives its scripts no PATH.
PATH=${PATH:-/usr/sbin:/usr/bin:/sbin:/bin}
export PATH
peerless-agent gate health
code=$?
[ "$code" -eq 0 ] ||
    logger -p daemon.warning -t peerless-agent "gate health: ALERT: could not tell: the agent ended with $code" 2>/dev/null
exit 0
