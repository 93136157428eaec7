//! The shipped scripts below a real Slurm: controller and three nodes on this machine, with simulated GPUs.
//!
//! It needs root and Debian's slurm-wlm, so it is run by `cargo xtask slurm`.

use std::fs;
use std::net::TcpListener;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use fake_gpu::Scenario;

use crate::deployment::shipped;
use crate::node::Node;

const AGENT: &str = env!("CARGO_BIN_EXE_peerless-agent");
/// Longest that anything here may take.
const PATIENCE: Duration = Duration::from_mins(1);

/// A cluster; its daemons end with it.
struct Slurm {
    folder: tempfile::TempDir,
    nodes: Vec<(&'static str, Node)>,
    daemons: Vec<Child>,
}

impl Slurm {
    /// With a node for each scenario, and more settings for its `[gate]`.
    fn start(nodes: [(&'static str, Scenario, &str); 3]) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let here = folder.path().to_owned();
        let mut slurm = Self {
            nodes: Vec::new(),
            daemons: Vec::new(),
            folder,
        };
        for number in 0..2 {
            let device = here.join(format!("gpu{number}"));
            done(Command::new("mknod").arg(&device).args(["c", "1", "3"]));
        }
        for (script, wrapped) in [("prolog", "prolog.sh"), ("health", "healthcheck.sh")] {
            let shipped = shipped(&format!("slurm/{wrapped}"));
            // What stands in /etc on a node stands in variables here: there is one machine for all.
            let text = format!(
                "#!/bin/sh\n. {}/$SLURMD_NODENAME.env\nexec /bin/sh {} 2>> {}/{script}.log\n",
                here.display(),
                shipped.display(),
                here.display()
            );
            program(&here.join(script), &text);
        }
        program(&here.join("job"), "#!/bin/sh\necho ran\n");
        fs::create_dir(here.join("state")).unwrap();
        fs::write(
            here.join("slurm.conf"),
            slurm.settings(&nodes.each_ref().map(|node| node.0)),
        )
        .unwrap();
        fs::write(
            here.join("gres.conf"),
            format!("NodeName=n[1-3] Name=gpu File={}/gpu[0-1]\n", here.display()),
        )
        .unwrap();
        for (name, scenario, settings) in nodes {
            let node = Node::with(&scenario);
            slurm.prepare(name, &node, settings);
            slurm.nodes.push((name, node));
        }
        slurm.munge();
        slurm.daemon("slurmctld", &["-D"]);
        for name in ["n1", "n2", "n3"] {
            slurm.daemon("slurmd", &["-D", "-N", name]);
        }
        for name in ["n1", "n2", "n3"] {
            slurm.until(name, |state| state.contains(" State=IDLE "));
        }
        slurm
    }

    fn settings(&self, nodes: &[&str]) -> String {
        let here = self.folder.path().display();
        // All at once, so that they differ.
        let listeners = [(); 4].map(|()| TcpListener::bind("127.0.0.1:0").unwrap());
        let ports = listeners.map(|listener| listener.local_addr().unwrap().port());
        // Every second, checks of health would leave the controller no time to ask resumed nodes whether they are there.
        let cluster = format!(
            "ClusterName=test\nSlurmctldHost=localhost(127.0.0.1)\nSlurmctldPort={}\n\
             AuthType=auth/munge\nAuthInfo=socket={here}/munge.sock\nCredType=cred/munge\n\
             SlurmUser=root\nSlurmdUser=root\nStateSaveLocation={here}/state\nSlurmdSpoolDir={here}/spool-%n\n\
             SlurmctldPidFile={here}/slurmctld.pid\nSlurmdPidFile={here}/slurmd-%n.pid\n\
             ProctrackType=proctrack/pgid\nTaskPlugin=task/none\nSwitchType=switch/none\nMpiDefault=none\n\
             SelectType=select/cons_tres\nSelectTypeParameters=CR_Core\nJobAcctGatherType=jobacct_gather/none\n\
             GresTypes=gpu\nPrologFlags=Alloc\nProlog={here}/prolog\n\
             HealthCheckProgram={here}/health\nHealthCheckInterval=2\nHealthCheckNodeState=ANY\n\
             BatchStartTimeout=60\nMessageTimeout=60\nSchedulerParameters=batch_sched_delay=0,sched_interval=1\nPartitionName=p Nodes=ALL Default=YES State=UP\n",
            ports[0]
        );
        let nodes = nodes.iter().zip(&ports[1..]).map(|(node, port)| {
            format!(
                "NodeName={node} NodeAddr=127.0.0.1 NodeHostname=localhost Port={port} CPUs=2 Gres=gpu:2\n"
            )
        });
        [cluster].into_iter().chain(nodes).collect()
    }

    /// The agent of a node, and its settings.
    fn prepare(&self, name: &str, node: &Node, settings: &str) {
        let here = self.folder.path();
        fs::create_dir(here.join(format!("spool-{name}"))).unwrap();
        let bin = here.join(name);
        fs::create_dir(&bin).unwrap();
        program(
            &bin.join("peerless-agent"),
            &format!("#!/bin/sh\nexec {AGENT} \"$@\"\n"),
        );
        let file = node.path("settings.toml");
        let text = format!(
            "buffer-kib = 4\nhost-root = \"{}\"\nlock-file = \"{}\"\nstate = \"{}\"\n[gate]\nlog-socket = \"{}\"\n{settings}\n",
            node.path("host").display(),
            node.path("lock").display(),
            node.path("state").display(),
            node.path("log").display(),
        );
        fs::write(&file, text).unwrap();
        fs::create_dir(node.path("state")).unwrap();
        let variables = node.installed.environment();
        let mut lines: Vec<String> = variables
            .map(|(name, value)| format!("export {}='{}'", name.display(), value.display()))
            .collect();
        lines.push(format!(
            "export PATH={}:/usr/sbin:/usr/bin:/sbin:/bin PEERLESS_CONFIG={} SLURM_CONF={}\n",
            bin.display(),
            file.display(),
            self.conf().display()
        ));
        fs::write(here.join(format!("{name}.env")), lines.join("\n")).unwrap();
    }

    fn conf(&self) -> PathBuf {
        self.folder.path().join("slurm.conf")
    }

    fn munge(&mut self) {
        let here = self.folder.path();
        let key = here.join("munge.key");
        fs::write(&key, (0_u8..=255).cycle().take(1_024).collect::<Vec<u8>>()).unwrap();
        fs::set_permissions(&key, fs::Permissions::from_mode(0o400)).unwrap();
        let option = |name: &str, file: &str| format!("--{name}={}", here.join(file).display());
        let mut command = Command::new("munged");
        command.args(["--foreground", "--force"]).args([
            option("key-file", "munge.key"),
            option("socket", "munge.sock"),
            option("pid-file", "munge.pid"),
            option("log-file", "munge.log"),
            option("seed-file", "munge.seed"),
        ]);
        let socket = here.join("munge.sock");
        self.spawn(&mut command);
        wait("munged", || socket.try_exists().unwrap().then_some(()));
    }

    fn daemon(&mut self, name: &str, arguments: &[&str]) {
        let mut command = Command::new(name);
        command.args(arguments).arg("-f").arg(self.conf());
        self.spawn(&mut command);
    }

    fn spawn(&mut self, command: &mut Command) {
        let name = command.get_program().to_string_lossy().into_owned();
        let log = fs::File::options()
            .create(true)
            .append(true)
            .open(self.folder.path().join(format!("{name}.log")))
            .unwrap();
        let daemon = command
            .stdin(Stdio::null())
            .stdout(log.try_clone().unwrap())
            .stderr(log)
            .spawn();
        self.daemons.push(
            daemon.unwrap_or_else(|error| panic!("{name}: {error}: run `cargo xtask slurm --install`")),
        );
    }

    fn ask(&self, program: &str, arguments: &[&str]) -> String {
        let output = Command::new(program)
            .args(arguments)
            .env("SLURM_CONF", self.conf())
            .output()
            .unwrap();
        String::from_utf8_lossy(&output.stdout).into_owned()
    }

    fn show(&self, node: &str) -> String {
        self.ask("scontrol", &["--oneliner", "show", "node", node])
    }

    fn until(&self, node: &str, holds: impl Fn(&str) -> bool) -> String {
        wait(node, || Some(self.show(node)).filter(|state| holds(state)))
    }

    fn node(&self, name: &str) -> &Node {
        let found = self.nodes.iter().find(|(own, _)| *own == name);
        &found.unwrap().1
    }

    /// Starts a job on a node; its id, and what it prints goes into a file.
    fn submit(&self, node: &str, gpus: u32) -> (String, PathBuf) {
        let out = self.folder.path().join(format!("{node}-{gpus}.out"));
        let _ = fs::remove_file(&out);
        let id = self.ask(
            "sbatch",
            &[
                "--parsable",
                &format!("--gres=gpu:{gpus}"),
                "--nodelist",
                node,
                "--output",
                out.to_str().unwrap(),
                self.folder.path().join("job").to_str().unwrap(),
            ],
        );
        (id.trim().to_owned(), out)
    }

    fn until_job(&self, id: &str, wanted: &str) {
        wait(wanted, || {
            let job = self.ask("scontrol", &["--oneliner", "show", "job", id]);
            job.contains(wanted).then_some(())
        });
    }

    /// The daemon's last look at a node, with the verdict of a proof of the scenario.
    fn looked(&self, node: &str, scenario: &Scenario) {
        let (report, _) = Node::with(scenario).probe(&[]);
        let path = self.node(node).path("state/last-passive.json");
        fs::write(path, serde_json::to_vec(&report).unwrap()).unwrap();
    }

    fn update(&self, node: &str, changes: &[&str]) {
        let name = format!("NodeName={node}");
        self.ask("scontrol", &[&["update", &name], changes].concat());
    }
}

impl Drop for Slurm {
    fn drop(&mut self) {
        if std::thread::panicking() {
            for log in [
                "slurmctld.log",
                "slurmd.log",
                "munged.log",
                "prolog.log",
                "health.log",
            ] {
                let text = fs::read_to_string(self.folder.path().join(log)).unwrap_or_default();
                let last: Vec<&str> = text.lines().rev().take(40).collect();
                eprintln!("{log}, last line first:\n{}", last.join("\n"));
            }
        }
        // Nodes first, then the controller, then munge.
        for daemon in self.daemons.iter_mut().rev() {
            // Ended already, perhaps.
            let _ = daemon.kill();
            let _ = daemon.wait();
        }
    }
}

fn program(path: &Path, text: &str) {
    fs::write(path, text).unwrap();
    fs::set_permissions(path, fs::Permissions::from_mode(0o755)).unwrap();
}

fn done(command: &mut Command) {
    let output = command.output().unwrap();
    assert!(output.status.success(), "{command:?}: {output:?}: it needs root");
}

fn wait<T>(what: &str, found: impl Fn() -> Option<T>) -> T {
    let start = Instant::now();
    loop {
        if let Some(found) = found() {
            return found;
        }
        assert!(start.elapsed() < PATIENCE, "waited in vain for {what}");
        std::thread::yield_now();
    }
}

#[test]
#[ignore = "needs root and Slurm: cargo xtask slurm --install"]
fn slurm_drains_for_faults_alone() {
    let slurm = Slurm::start([
        ("n1", Scenario::healthy(2), "arm = true\nmax-drained = \"2\""),
        (
            "n2",
            Scenario::writes_dropped(),
            "arm = true\nmax-drained = \"2\"",
        ),
        (
            "n3",
            Scenario::not_yet_initialized(),
            "arm = true\nmax-drained = \"2\"\nin-doubt = \"hold\"",
        ),
    ]);
    // A healthy node runs jobs of one GPU and of two.
    for gpus in [1, 2] {
        let (job, out) = slurm.submit("n1", gpus);
        slurm.until_job(&job, "JobState=COMPLETED");
        assert_eq!(fs::read_to_string(out).unwrap(), "ran\n");
    }
    // A fault takes the node out of service with the agent's reason, and the job does not start.
    let (faulty, faulty_out) = slurm.submit("n2", 2);
    let state = slurm.until("n2", |state| state.contains("+DRAIN"));
    assert!(state.contains("Reason=peerless: broken: "), "{state}");
    slurm.until_job(&faulty, "JobState=PENDING");
    // What cannot be told holds the job, and leaves the node.
    let (doubtful, doubtful_out) = slurm.submit("n3", 2);
    slurm.until_job(&doubtful, "Reason=job_requeued_in_held_state");
    slurm.until_job(&doubtful, "Priority=0");
    slurm.until("n3", |state| state.contains(" State=IDLE "));
    assert!(!faulty_out.try_exists().unwrap() && !doubtful_out.try_exists().unwrap());
    // The health check drains for what the daemon found, and a person's drain stays.
    slurm.update("n1", &["State=DRAIN", "Reason=new riser, alice"]);
    slurm.looked("n1", &Scenario::writes_dropped());
    slurm.looked("n3", &Scenario::writes_dropped());
    slurm.until("n3", |state| {
        state.contains("+DRAIN") && state.contains("Reason=peerless: broken: ")
    });
    let marked = slurm.node("n1").path("state/drained-by-passive");
    wait("the check of n1", || marked.try_exists().unwrap().then_some(()));
    let state = slurm.show("n1");
    assert!(state.contains("Reason=new riser, alice ["), "{state}");
    // Two nodes are drained: a third is only told of.
    let log = std::os::unix::net::UnixDatagram::bind(slurm.node("n1").path("log")).unwrap();
    log.set_read_timeout(Some(PATIENCE)).unwrap();
    slurm.update("n1", &["State=RESUME"]);
    slurm.looked("n1", &Scenario::writes_dropped());
    wait("an alert of n1", || {
        let mut buffer = [0; 2_048];
        let length = log.recv(&mut buffer).unwrap();
        let told = String::from_utf8_lossy(&buffer[..length]);
        told.contains("2 nodes are drained by peerless, of at most 2")
            .then_some(())
    });
    slurm.until("n1", |state| !state.contains("DRAIN"));
    // An agent that is gone lets jobs start.
    fs::remove_file(slurm.folder.path().join("n1/peerless-agent")).unwrap();
    let (job, out) = slurm.submit("n1", 2);
    slurm.until_job(&job, "JobState=COMPLETED");
    assert_eq!(fs::read_to_string(out).unwrap(), "ran\n");
}
