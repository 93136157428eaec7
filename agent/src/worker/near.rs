//! Keeping a thread on the CPUs next to a GPU, so that host memory that it takes meanwhile is the nearest there is.

use rustix::thread::{CpuSet, sched_getaffinity, sched_setaffinity};

/// A thread that is kept on some CPUs until this is dropped. The kernel gives a thread memory of the node that it runs on, to
/// page-locked memory too, which the driver takes in the caller's own context.
pub(super) struct Kept {
    before: CpuSet,
}

impl Kept {
    /// Keeps this thread on these CPUs; says why that cannot be. A container or a job may be left none of them.
    pub(super) fn on(cpus: &[u32]) -> Result<Self, String> {
        let mut wanted = CpuSet::new();
        for cpu in cpus.iter().filter_map(|cpu| usize::try_from(*cpu).ok()) {
            if cpu < CpuSet::MAX_CPU {
                wanted.set(cpu);
            }
        }
        let kept = || {
            let before = sched_getaffinity(None)?;
            sched_setaffinity(None, &wanted)?;
            Ok(Self { before })
        };
        kept().map_err(|error: rustix::io::Errno| format!("sched_setaffinity: {error}"))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        // These were allowed before; where they no longer are, the thread stays where it is.
        let _ = sched_setaffinity(None, &self.before);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_is_kept_and_let_go() {
        let before = sched_getaffinity(None).unwrap();
        let first = (0..CpuSet::MAX_CPU).find(|cpu| before.is_set(*cpu)).unwrap();
        let kept = Kept::on(&[u32::try_from(first).unwrap()]).unwrap();
        let meanwhile = sched_getaffinity(None).unwrap();
        assert_eq!((meanwhile.count(), meanwhile.is_set(first)), (1, true));
        drop(kept);
        assert_eq!(sched_getaffinity(None).unwrap(), before);
    }

    #[test]
    fn no_cpu_at_all_is_refused() {
        let refused = Kept::on(&[]).err().unwrap();
        assert!(refused.starts_with("sched_setaffinity: "), "{refused}");
    }
}
