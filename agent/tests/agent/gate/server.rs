//! The gates beside a server that does not do its part.

use std::net::TcpListener;
use std::time::{Duration, Instant};

use fake_gpu::Scenario;

use super::{ARMED, Cluster};
use crate::node::files_in;
use crate::tree::write;

/// Of two waits of 5 s and what a busy machine takes beside them: less than a system looks for the address of a name.
const LONGEST: Duration = Duration::from_secs(20);

/// The system takes the connection, and nobody ever reads from it.
#[test]
fn a_server_that_never_answers_does_not_hold_up_jobs() {
    let silent = TcpListener::bind("127.0.0.1:0").unwrap();
    let address = format!("http://{}", silent.local_addr().unwrap());
    let cluster = Cluster::with(&Scenario::healthy(2), ARMED);
    write(
        &cluster.node.path(""),
        "host/dev/kmsg",
        "5,0,0,-;Linux version 6.8.0\n",
    );
    let spool = cluster.node.path("spool");
    for (kept, script) in [(1, "slurm/prolog.sh"), (2, "slurm/epilog.sh")] {
        let began = Instant::now();
        assert_eq!(cluster.run(script).code, 0, "{script}");
        let without = began.elapsed();
        let began = Instant::now();
        let mut command = cluster.script(script, "0,1");
        command
            .env("PEERLESS_SERVER", &address)
            .env("PEERLESS_SPOOL", &spool);
        let output = command.output().unwrap();
        let (took, told) = (began.elapsed(), String::from_utf8_lossy(&output.stderr));
        assert_eq!(output.status.code(), Some(0), "{script}: {told}");
        assert!(
            took < without + LONGEST,
            "{script}: {took:?}, {without:?} without a server: {told}"
        );
        assert!(!told.contains("killed"), "{script}: {told}");
        // Whoever comes later sends it.
        assert_eq!(files_in(&spool).len(), kept, "{script}: {told}");
    }
}
