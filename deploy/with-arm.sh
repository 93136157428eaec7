#!/usr/bin/env bash
# Runs a command so that programs for Arm start on this machine, whatever its processor is: in a user namespace that has qemu
# registered as their interpreter. Nothing of the machine is changed. Beside qemu-user-static it needs Linux 6.7 or newer.
#   deploy/with-arm.sh COMMAND [ARGUMENT...]
set -euo pipefail
: "${1:?usage: deploy/with-arm.sh COMMAND [ARGUMENT...]}"
qemu=/usr/bin/qemu-aarch64-static
[ -x "$qemu" ] || { echo "deploy/with-arm.sh: $qemu is missing: install qemu-user-static" >&2 && exit 69; }
# The first bytes of a program for Arm, and which of their bits count. F opens qemu now: it is found below another root, too.
magic='\x7fELF\x02\x01\x01\x00\x00\x00\x00\x00\x00\x00\x00\x00\x02\x00\xb7\x00'
mask='\xff\xff\xff\xff\xff\xff\xff\x00\xff\xff\xff\xff\xff\xff\xff\xff\xfe\xff\xff\xff'
registered=":peerless-arm:M::$magic:$mask:$qemu:F"
# The command is not the first process of the namespace, which ignores signals.
inside='exec 9<&-
mount -t proc proc /proc && mount -t binfmt_misc binfmt_misc /proc/sys/fs/binfmt_misc &&
    printf %s "$0" > /proc/sys/fs/binfmt_misc/register || exit 71
"$@"
exit'
spaces=(--mount --pid --fork --kill-child sh -c "$inside" "$registered" "$@")

[ "$(id -u)" = 0 ] || exec unshare --user --map-root-user "${spaces[@]}"
# Root's namespace has all users of this one, as the files of another root ask for.
coproc holder { exec unshare --user cat; }
[ -n "${holder_PID:-}" ] || { echo "deploy/with-arm.sh: no user namespace can be made here" >&2; exit 71; }
until [ "$(readlink "/proc/$holder_PID/ns/user")" != "$(readlink /proc/self/ns/user)" ]; do
    [ -e "/proc/$holder_PID" ] || { echo "deploy/with-arm.sh: no user namespace can be made here" >&2; exit 71; }
done
for map in uid_map gid_map; do
    ids=$(awk '{ print $1, $1, $3 }' "/proc/self/$map")
    echo "$ids" > "/proc/$holder_PID/$map"
done
exec 9< "/proc/$holder_PID/ns/user"
kill "$holder_PID"
exec nsenter --user=/proc/self/fd/9 unshare "${spaces[@]}"
