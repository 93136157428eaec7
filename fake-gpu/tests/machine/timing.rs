//! The model of time: the right way to measure gives the scenario's figure, each wrong way a wrong one.

use crate::{cuda::Cuda, kernels::PTX, support::on_machine};
use fake_gpu::{Scenario, scenario::Speed};

const BYTES: usize = 2 << 20;

/// How a bandwidth is measured.
#[derive(Clone, Copy)]
pub(crate) struct Method {
    warm_up: bool,
    /// A kernel keeps the stream until everything is queued.
    blocked: bool,
    copies: usize,
}

pub(crate) const RIGHT: Method = Method {
    warm_up: true,
    blocked: true,
    copies: 8,
};

/// GB/s of copies that GPU 0 pushes to GPU 1.
pub(crate) fn push(cuda: &Cuda, contexts: &[usize], method: Method) -> f64 {
    let memory = [0, 1].map(|gpu| cuda.allocate(contexts[gpu], BYTES));
    let stream = cuda.stream(contexts[0]);
    let mut host = 0;
    assert_eq!(cuda.cuMemHostAlloc(&raw mut host, 4096, 3), 0);
    // SAFETY: pinned memory of that size; the kernel reads the second word while this writes it, both in one piece.
    let go = unsafe { std::sync::atomic::AtomicU64::from_ptr((host + 8) as *mut u64) };
    let copy = || {
        let code = cuda.cuMemcpyPeerAsync(memory[1], contexts[1], memory[0], contexts[0], BYTES, stream);
        assert_eq!(code, 0);
    };
    if method.blocked {
        let announce = cuda.function(PTX, c"announce");
        assert_eq!(
            cuda.launch(announce, 1, 1, stream, &[memory[0], 0, host, host + 8]),
            0
        );
    }
    if method.warm_up {
        copy();
    }
    if !method.blocked {
        assert_eq!(cuda.cuStreamSynchronize(stream), 0);
    }
    let (mut start, mut end) = (0, 0);
    assert_eq!(cuda.cuEventCreate(&raw mut start, 0), 0);
    assert_eq!(cuda.cuEventCreate(&raw mut end, 0), 0);
    assert_eq!(cuda.cuEventRecord(start, stream), 0);
    (0..method.copies).for_each(|_| copy());
    assert_eq!(cuda.cuEventRecord(end, stream), 0);
    go.store(1, std::sync::atomic::Ordering::Release);
    assert_eq!(cuda.cuStreamSynchronize(stream), 0);
    let mut milliseconds = 0.0;
    assert_eq!(cuda.cuEventElapsedTime(&raw mut milliseconds, start, end), 0);
    #[allow(clippy::cast_precision_loss, reason = "megabytes")]
    let bytes = (BYTES * method.copies) as f64;
    bytes / 1e6 / f64::from(milliseconds)
}

/// Within a thousandth: the interface gives a float of 32 bits.
pub(crate) fn close(found: f64, expected: f64) -> bool {
    (found / expected - 1.0).abs() < 1e-3
}

#[test]
fn the_right_method_gives_the_scenarios_figures() {
    let test = "timing::the_right_method_gives_the_scenarios_figures";
    let mut scenario = Scenario::healthy(2);
    scenario.speed = Speed::uniform(2, 300.0, 30.0);
    scenario.speed.direct[0][1] = 150.0;
    on_machine(&scenario, test, |cuda| {
        let contexts = cuda.start();
        let staged = push(cuda, &contexts, RIGHT);
        cuda.enable_both(&contexts);
        let direct = push(cuda, &contexts, RIGHT);
        let back = push(cuda, &[contexts[1], contexts[0]], RIGHT);
        assert!(close(staged, 30.0), "{staged}");
        assert!(close(direct, 150.0), "{direct}");
        assert!(close(back, 300.0), "{back}");
    });
}

#[test]
fn without_warm_up_the_first_figure_is_low() {
    let test = "timing::without_warm_up_the_first_figure_is_low";
    on_machine(&Scenario::healthy(2), test, |cuda| {
        let contexts = cuda.start();
        cuda.enable_both(&contexts);
        let cold = Method {
            warm_up: false,
            ..RIGHT
        };
        let figures = [cold, cold, RIGHT].map(|method| push(cuda, &contexts, method));
        assert!(figures[0] < 0.5 * figures[2], "{figures:?}");
        assert!(close(figures[1], figures[2]), "{figures:?}");
    });
}

#[test]
fn without_a_blocking_kernel_the_gaps_are_counted_in() {
    let test = "timing::without_a_blocking_kernel_the_gaps_are_counted_in";
    on_machine(&Scenario::healthy(2), test, |cuda| {
        let contexts = cuda.start();
        cuda.enable_both(&contexts);
        let single = Method { copies: 1, ..RIGHT };
        let open = Method {
            blocked: false,
            ..single
        };
        let figures = [single, open].map(|method| push(cuda, &contexts, method));
        assert!(close(figures[0], 391.8), "{figures:?}");
        assert!(figures[1] < 0.9 * figures[0], "{figures:?}");
    });
}

#[test]
fn a_kernel_takes_time_for_what_it_moves() {
    let test = "timing::a_kernel_takes_time_for_what_it_moves";
    on_machine(&Scenario::healthy(2), test, |cuda| {
        let contexts = cuda.start();
        cuda.enable_both(&contexts);
        let memory = [0, 1].map(|gpu| cuda.allocate(contexts[gpu], BYTES));
        assert_eq!(cuda.cuCtxSetCurrent(contexts[0]), 0);
        let fill = cuda.function(PTX, c"count_up");
        let words = BYTES as u64 / 8;
        let took = || {
            [memory[0], memory[1]].map(|target| {
                let (mut start, mut end, mut milliseconds) = (0, 0, 0.0);
                assert_eq!(cuda.cuEventCreate(&raw mut start, 0), 0);
                assert_eq!(cuda.cuEventCreate(&raw mut end, 0), 0);
                assert_eq!(cuda.cuEventRecord(start, 0), 0);
                assert_eq!(
                    cuda.launch(fill, words as u32 / 512, 512, 0, &[target, words, 0]),
                    0
                );
                assert_eq!(cuda.cuEventRecord(end, 0), 0);
                assert_eq!(cuda.cuCtxSynchronize(), 0);
                assert_eq!(cuda.cuEventElapsedTime(&raw mut milliseconds, start, end), 0);
                milliseconds
            })
        };
        took();
        let [own, theirs] = took();
        assert!(theirs > own, "{own} {theirs}");
    });
}
