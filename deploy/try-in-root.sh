#!/usr/bin/env bash
# Installs the Debian packages of a release below the root of a bare system (debootstrap --variant=minbase), as root, and says how
# many seconds pass from there to the first answer of each program. A root for Arm (debootstrap --arch arm64) runs on other processors,
# too (deploy/with-arm.sh).
#   deploy/try-in-root.sh ROOT RELEASE_DIR
set -euo pipefail
root=${1:?usage: deploy/try-in-root.sh ROOT RELEASE_DIR}
release=${2:?usage: deploy/try-in-root.sh ROOT RELEASE_DIR}
if [ -e "$root/lib/ld-linux-aarch64.so.1" ] && [ -z "${PEERLESS_WITH_ARM:-}" ] && ! chroot "$root" true 2> /dev/null; then
    exec "$(dirname "$0")/with-arm.sh" env PEERLESS_WITH_ARM=1 "$0" "$@"
fi
unset PEERLESS_WITH_ARM
port=18080
line="NVRM: Xid (PCI:0000:91:00): 79, pid='<unknown>', name=<unknown>, GPU has fallen off the bus."

server= mounted=
end() {
    [ -z "$server" ] || kill "$server" 2> /dev/null || true
    [ -z "$server" ] || wait "$server" 2> /dev/null || true
    [ -z "$mounted" ] || umount "$root/proc"
    rm -rf "$root"/tmp/peerless*.deb "$root/tmp/peerless-data"
}
trap end EXIT
# The agent finds its own program through /proc/self/exe.
mountpoint -q "$root/proc" || { mount -t proc proc "$root/proc" && mounted=1; }
seconds() { echo "$EPOCHREALTIME $1" | awk '{ printf "%.1f s", $1 - $2 }'; }

cp "$release"/peerless_*.deb "$release"/peerless-agent_*.deb "$root/tmp/"
began=$EPOCHREALTIME
chroot "$root" sh -c 'dpkg --install /tmp/peerless_*.deb /tmp/peerless-agent_*.deb' > /dev/null
installed=$(seconds "$began")

began=$EPOCHREALTIME
found=$(echo "$line" | chroot "$root" peerless match -)
[[ $found = *xid/79-gpu-has-fallen-off-the-bus* ]] || { echo "match: no answer: $found" >&2; exit 1; }
matched=$(seconds "$began")

began=$EPOCHREALTIME
code=0
told=$(chroot "$root" peerless-agent probe 2>&1) || code=$?
[[ $code = 3 && $told = *libcuda.so.1* ]] || { echo "probe: code $code: $told" >&2; exit 1; }
probed=$(seconds "$began")

began=$EPOCHREALTIME
chroot "$root" peerless serve --listen "127.0.0.1:$port" --data-dir /tmp/peerless-data > /dev/null 2>&1 &
server=$!
until answer=$({ exec 3<> "/dev/tcp/127.0.0.1/$port" && printf 'GET /readyz HTTP/1.0\r\n\r\n' >&3 && head -n 1 <&3; } 2> /dev/null) &&
    [[ $answer = *" 200 "* ]]; do
    kill -0 "$server" 2> /dev/null || { echo "serve: it ended" >&2; exit 1; }
    sleep 0.1
done
served=$(seconds "$began")
echo "$(. "$root/etc/os-release" && echo "$PRETTY_NAME"): install $installed, match $matched, probe $probed, serve $served"
