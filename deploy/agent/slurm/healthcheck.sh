#!/bin/sh
# Slurm HealthCheckProgram (slurm.conf: HealthCheckProgram=/etc/slurm/peerless-health.sh, HealthCheckInterval=300,
# HealthCheckNodeState=ANY). Slurm kills it after 60 s and does nothing with its exit code, so it reads what the daemon
# found last (no GPU is touched, also beside a running job) and drains the node itself.
#
# It needs the daemon (peerless-agent.service). What the daemon sees without touching a GPU it looks at each quarter of
# an hour; the whole ladder only with `active = true`. Where `state` is set, PEERLESS_STATE has to name the same folder here.
#
# A result drains once: a node that was repaired and resumed is drained again only by a later result, and never by
# one from before it was booted. After a repair `peerless-agent daemon --once --active --idle-minutes 0` makes a new one.
set -u
state=${PEERLESS_STATE:-/var/lib/peerless-agent}
booted=$(sed -n 's/^btime //p' /proc/stat)

# check KIND OPTION...: the daemon's last result of the kind.
check() {
    result=$state/last-$1.json
    drained=$state/drained-by-$1
    shift
    written=$(stat -c %Y "$result" 2>/dev/null) || return 0
    [ "$written" -ge "${booted:-0}" ] || return 0
    if [ -e "$drained" ] && ! [ "$result" -nt "$drained" ]; then return 0; fi
    said=$(peerless-agent status --state "$state" --fail-on fault "$@" 2>&1)
    [ $? -eq 2 ] || return 0
    scontrol update NodeName="${SLURMD_NODENAME:-$(hostname -s)}" State=DRAIN \
        Reason="peerless: $(printf %.200s "$said")" && touch -r "$result" "$drained"
    exit 0
}

check active --max-age 48
check passive --passive --max-age 1
exit 0
