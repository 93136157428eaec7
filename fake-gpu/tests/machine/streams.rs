//! Streams and events: what waits for what.

use crate::{kernels::PTX, support::on_machine};
use fake_gpu::Scenario;

#[test]
fn work_is_queued_and_events_mark_it() {
    on_machine(
        &Scenario::healthy(1),
        "streams::work_is_queued_and_events_mark_it",
        |cuda| {
            let context = cuda.start()[0];
            let flags = cuda.allocate(context, 24);
            cuda.write(context, flags, &[0; 24]);
            let (held, other) = (cuda.stream(context), cuda.stream(context));
            let (mut start, mut end) = (0, 0);
            assert_eq!(cuda.cuEventCreate(&raw mut start, 0), 0);
            assert_eq!(cuda.cuEventCreate(&raw mut end, 0), 0);
            let mut milliseconds = 0.0;
            assert_eq!(
                cuda.cuEventElapsedTime(&raw mut milliseconds, start, end),
                400,
                "never recorded"
            );
            assert_eq!(cuda.cuEventQuery(end), 0, "never recorded");

            let meet = cuda.function(PTX, c"meet");
            assert_eq!(cuda.cuEventRecord(start, held), 0);
            assert_eq!(
                cuda.launch(
                    meet,
                    1,
                    1,
                    held,
                    &[flags, 1, flags + 8, 1, 20_000_000_000, flags + 16]
                ),
                0
            );
            assert_eq!(cuda.cuEventRecord(end, held), 0);
            // The kernel waits for what comes from the other stream only.
            assert_eq!(cuda.cuStreamQuery(held), 600);
            assert_eq!(cuda.cuEventQuery(end), 600);
            assert_eq!(cuda.cuEventElapsedTime(&raw mut milliseconds, start, end), 600);
            assert_eq!(cuda.cuMemsetD32Async(flags + 8, 1, 1, other), 0);
            assert_eq!(cuda.cuEventSynchronize(end), 0);
            assert_eq!(cuda.cuStreamQuery(held), 0);
            assert_eq!(cuda.read(context, flags + 16, 8), [1, 0, 0, 0, 0, 0, 0, 0]);
            assert_eq!(cuda.cuEventElapsedTime(&raw mut milliseconds, start, end), 0);
            assert!(milliseconds > 0.0, "{milliseconds}");
        },
    );
}

#[test]
fn a_stream_waits_for_an_event_of_another_context() {
    on_machine(
        &Scenario::healthy(2),
        "streams::a_stream_waits_for_an_event_of_another_context",
        |cuda| {
            let contexts = cuda.start();
            let flags = cuda.allocate(contexts[0], 24);
            cuda.write(contexts[0], flags, &[0; 24]);
            let (first, free) = (cuda.stream(contexts[0]), cuda.stream(contexts[0]));
            let meet = cuda.function(PTX, c"meet");
            let mut done = 0;
            assert_eq!(cuda.cuEventCreate(&raw mut done, 2), 0);
            assert_eq!(
                cuda.launch(
                    meet,
                    1,
                    1,
                    first,
                    &[flags, 1, flags + 8, 1, 20_000_000_000, flags + 16]
                ),
                0
            );
            assert_eq!(cuda.cuEventRecord(done, first), 0);
            let second = cuda.stream(contexts[1]);
            assert_eq!(
                cuda.cuEventRecord(done, second),
                400,
                "an event belongs to its context"
            );
            assert_eq!(cuda.cuStreamWaitEvent(second, done, 0), 0);
            assert_eq!(cuda.cuStreamQuery(second), 600);
            assert_eq!(cuda.cuCtxSetCurrent(contexts[0]), 0);
            assert_eq!(cuda.cuStreamQuery(second), 600, "asked from another context");
            let kernel = cuda.function(PTX, c"meet");
            assert_eq!(
                cuda.launch(kernel, 1, 1, second, &[0; 6]),
                400,
                "a stream belongs to its context"
            );
            assert_eq!(cuda.cuMemsetD8Async(flags + 8, 1, 1, free), 0);
            assert_eq!(cuda.cuCtxSetCurrent(contexts[1]), 0);
            assert_eq!(cuda.cuStreamSynchronize(second), 0);
            assert_eq!(cuda.cuStreamDestroy_v2(second), 0);
            assert_eq!(cuda.cuStreamDestroy_v2(second), 400);
        },
    );
}

#[test]
fn the_default_stream_waits_for_blocking_streams_and_they_for_it() {
    let test = "streams::the_default_stream_waits_for_blocking_streams_and_they_for_it";
    on_machine(&Scenario::healthy(1), test, |cuda| {
        let context = cuda.start()[0];
        let flags = cuda.allocate(context, 24);
        cuda.write(context, flags, &[0; 24]);
        let free = cuda.stream(context);
        let (mut blocking, mut later) = (0, 0);
        assert_eq!(cuda.cuStreamCreate(&raw mut blocking, 0), 0);
        assert_eq!(cuda.cuStreamCreate(&raw mut later, 0), 0);
        let meet = cuda.function(PTX, c"meet");
        assert_eq!(
            cuda.launch(
                meet,
                1,
                1,
                blocking,
                &[flags, 1, flags + 8, 1, 20_000_000_000, flags + 16]
            ),
            0
        );
        // Behind the kernel by way of the default stream, although on another stream.
        assert_eq!(cuda.cuMemsetD8Async(flags + 16, 7, 1, 0), 0);
        assert_eq!(cuda.cuMemsetD8Async(flags + 17, 7, 1, later), 0);
        assert_eq!(cuda.cuStreamQuery(0), 600);
        assert_eq!(cuda.cuStreamQuery(later), 600);
        assert_eq!(cuda.cuStreamQuery(free), 0);
        assert_eq!(cuda.cuMemsetD8Async(flags + 8, 1, 1, free), 0);
        assert_eq!(cuda.cuStreamSynchronize(later), 0);
        assert_eq!(cuda.read(context, flags + 16, 2), [7, 7]);
    });
}

#[test]
fn pinned_memory_is_the_same_on_both_sides() {
    on_machine(
        &Scenario::healthy(1),
        "streams::pinned_memory_is_the_same_on_both_sides",
        |cuda| {
            cuda.start();
            let mut host = 0;
            assert_eq!(cuda.cuMemHostAlloc(&raw mut host, 4096, 3), 0);
            let fill = cuda.function(PTX, c"count_up");
            assert_eq!(cuda.launch(fill, 1, 4, 0, &[host, 4, 100]), 0);
            assert_eq!(cuda.cuCtxSynchronize(), 0);
            // SAFETY: pinned memory of that size, and no kernel runs any more.
            let seen = unsafe { std::slice::from_raw_parts(host as *const u64, 4) }.to_vec();
            assert_eq!(seen, [100, 101, 102, 103]);
            assert_eq!(cuda.cuMemFree_v2(host), 1);
            assert_eq!(cuda.cuMemFreeHost(host), 0);
            assert_eq!(cuda.cuMemFreeHost(host), 1);
        },
    );
}
