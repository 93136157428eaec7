//! Several processes on one machine: IPC handles, what dies with a process, compute mode.

use crate::{
    cuda::{Cuda, IpcHandle},
    kernels::{PTX, word, wrong_words},
    support::{command, is_child, on_machine},
};
use fake_gpu::{
    Scenario,
    scenario::{ComputeMode, Fate, MemoryFault, Route},
};
use std::{
    io::{BufRead, BufReader, Write},
    process::{ChildStdin, ChildStdout, Command, Stdio},
};

/// Names the part a process plays in a test with two of them.
const PART: &str = "FAKE_GPU_TEST_PART";
/// Begins the lines that are for the other process: the test harness prints some of its own.
const MARK: &str = "to partner: ";

/// Another process on the same machine, as this one's partner.
struct Partner {
    child: std::process::Child,
    to: ChildStdin,
    from: BufReader<ChildStdout>,
}

impl Partner {
    /// Starts it from inside a child, which has the machine in its environment already.
    fn start(test: &str) -> Self {
        let mut command = Command::new(std::env::current_exe().unwrap());
        command
            .args([test, "--exact", "--nocapture", "--include-ignored"])
            .env(PART, "partner");
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (
            child.stdin.take().unwrap(),
            BufReader::new(child.stdout.take().unwrap()),
        );
        Self { child, to, from }
    }

    fn hear(&mut self) -> String {
        loop {
            let mut line = String::new();
            assert!(
                self.from.read_line(&mut line).unwrap() > 0,
                "the partner has ended"
            );
            if let Some((_, text)) = line.trim_end().split_once(MARK) {
                return text.to_owned();
            }
        }
    }

    fn say(&mut self, text: &str) {
        writeln!(self.to, "{text}").unwrap();
    }
}

fn is_partner() -> bool {
    std::env::var_os(PART).is_some()
}

fn say_to_parent(text: &str) {
    println!("{MARK}{text}");
}

fn hear_from_parent() -> String {
    let mut line = String::new();
    std::io::stdin().read_line(&mut line).unwrap();
    line.trim_end().to_owned()
}

fn hex(bytes: &[u8]) -> String {
    bytes
        .iter()
        .fold(String::new(), |text, byte| text + &format!("{byte:02x}"))
}

fn unhex(text: &str) -> [u8; 64] {
    std::array::from_fn(|index| u8::from_str_radix(&text[index * 2..][..2], 16).unwrap())
}

/// The partner owns memory of GPU 1 and says at the parent's asking how many words of it are wrong.
fn own_and_check(cuda: &Cuda) {
    let contexts = cuda.start();
    let memory = cuda.allocate(contexts[1], 64 * 8);
    cuda.write(contexts[1], memory, &[0; 64 * 8]);
    let mut handle = IpcHandle([0; 64]);
    assert_eq!(cuda.cuIpcGetMemHandle(&raw mut handle, memory), 0);
    let mut same = 0;
    assert_eq!(
        cuda.cuIpcOpenMemHandle_v2(&raw mut same, handle, 1),
        201,
        "its own handle"
    );
    say_to_parent(&hex(&handle.0));
    while hear_from_parent() == "check" {
        say_to_parent(&wrong_words(cuda, contexts[1], memory, 64, 5).to_string());
    }
}

/// Opens the partner's memory on GPU 0, writes to it by a kernel, and gives what the partner finds wrong.
fn write_to_partner(cuda: &Cuda, test: &str) -> u64 {
    let mut partner = Partner::start(test);
    let handle = IpcHandle(unhex(&partner.hear()));
    cuda.start();
    let (mut memory, mut again) = (0, 0);
    assert_eq!(
        cuda.cuIpcOpenMemHandle_v2(&raw mut memory, handle, 0),
        217,
        "neither enabled nor asked for"
    );
    assert_eq!(cuda.cuIpcOpenMemHandle_v2(&raw mut memory, handle, 1), 0);
    assert_eq!(cuda.cuIpcOpenMemHandle_v2(&raw mut again, handle, 1), 0);
    assert_eq!(memory, again);
    let fill = cuda.function(PTX, c"count_up");
    assert_eq!(cuda.launch(fill, 1, 64, 0, &[memory, 64, 5]), 0);
    assert_eq!(cuda.cuCtxSynchronize(), 0);
    partner.say("check");
    let wrong = partner.hear().parse().unwrap();
    assert_eq!(
        cuda.cuMemFree_v2(memory),
        1,
        "another process's memory is closed, not freed"
    );
    assert_eq!([0; 3].map(|_| cuda.cuIpcCloseMemHandle(memory)), [0, 0, 1]);
    partner.say("end");
    assert!(partner.child.wait().unwrap().success());
    wrong
}

#[test]
fn memory_of_another_process_is_the_same_memory() {
    let test = "processes::memory_of_another_process_is_the_same_memory";
    on_machine(&Scenario::healthy(2), test, |cuda| {
        if is_partner() {
            return own_and_check(cuda);
        }
        assert_eq!(write_to_partner(cuda, test), 0);
    });
}

#[test]
fn a_fault_of_the_ipc_route_hits_only_imported_memory() {
    let test = "processes::a_fault_of_the_ipc_route_hits_only_imported_memory";
    let mut scenario = Scenario::healthy(2);
    scenario.memory_faults.push(MemoryFault {
        routes: vec![Route::Ipc],
        ..MemoryFault::always(Fate::PrivateMirror)
    });
    on_machine(&scenario, test, |cuda| {
        if is_partner() {
            return own_and_check(cuda);
        }
        assert_eq!(write_to_partner(cuda, test), 64);
        let contexts = [0, 1].map(|device| {
            let mut context = 0;
            assert_eq!(cuda.cuDevicePrimaryCtxRetain(&raw mut context, device), 0);
            context
        });
        cuda.enable_both(&contexts);
        let memory = cuda.allocate(contexts[1], 8);
        cuda.write(contexts[1], memory, &[0; 8]);
        assert_eq!(cuda.cuCtxSetCurrent(contexts[0]), 0);
        let add = cuda.function(PTX, c"add_to");
        assert_eq!(cuda.launch(add, 1, 1, 0, &[memory, 3]), 0);
        assert_eq!(cuda.cuCtxSynchronize(), 0);
        assert_eq!(
            word(cuda, contexts[1], memory),
            3,
            "within one process all is well"
        );
    });
}

#[test]
fn what_a_killed_process_held_is_free_again() {
    let test = "processes::what_a_killed_process_held_is_free_again";
    let mut scenario = Scenario::healthy(1);
    scenario.gpus[0].compute_mode = ComputeMode::ExclusiveProcess;
    if is_child() {
        let cuda = Cuda::open().unwrap();
        let context = cuda.start()[0];
        cuda.allocate(context, 100_000 << 20);
        say_to_parent("taken");
        hear_from_parent();
        return;
    }
    let dir = tempfile::tempdir().unwrap();
    let installed = fake_gpu::install(dir.path(), &scenario).unwrap();
    let start = || {
        let mut child = command(&installed, test)
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()
            .unwrap();
        let (to, from) = (
            child.stdin.take().unwrap(),
            BufReader::new(child.stdout.take().unwrap()),
        );
        Partner { child, to, from }
    };
    let mut first = start();
    assert_eq!(first.hear(), "taken");
    let second = command(&installed, test).stdin(Stdio::null()).output().unwrap();
    assert!(
        !second.status.success(),
        "an exclusive GPU takes no second process"
    );
    assert!(
        String::from_utf8_lossy(&second.stderr).contains("left: 46"),
        "{second:?}"
    );
    first.child.kill().unwrap();
    // Dead but not yet waited for: the driver has taken everything back.
    let first_stat = format!("/proc/{}/stat", first.child.id());
    while !std::fs::read_to_string(&first_stat).unwrap().contains(") Z ") {
        std::thread::yield_now();
    }
    let mut third = start();
    assert_eq!(third.hear(), "taken");
    third.say("end");
    assert!(third.child.wait().unwrap().success());
    first.child.wait().unwrap();
}
