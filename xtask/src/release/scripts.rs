//! What the server's packages do beside placing files: its user and its folder, and the service ends before the program goes.

/// Before the files come. The folder stays when the package goes: it holds the database.
pub(super) const MAKE_USER: &str = "\
if ! getent passwd peerless > /dev/null; then
    useradd --system --user-group --home-dir /var/lib/peerless --shell /usr/sbin/nologin peerless
fi
install -d -m 700 -o peerless -g peerless /var/lib/peerless
";

pub(super) const RELOAD: &str = "\
if [ -d /run/systemd/system ]; then
    systemctl daemon-reload || true
fi
";

pub(super) const STOP: &str = "\
if [ -d /run/systemd/system ]; then
    systemctl --no-reload disable --now peerless.service || true
fi
";
