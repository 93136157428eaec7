//! What a kernel moves, and how long that takes in the model of time.

use super::{Machine, time::Path};

pub(crate) struct Traffic {
    gpu: usize,
    /// With each GPU's memory, and last with the host's.
    with: Vec<Counts>,
    /// Loads that each resident thread has made one after the other: as many numbers as `with` has for each thread.
    waits: Vec<u64>,
    /// Where in `waits` those of the running thread begin.
    thread: usize,
    /// Where the last load ended: one that goes on there is a part of the same access.
    end: u64,
}

#[derive(Clone, Copy, Default)]
struct Counts {
    loads: u64,
    loaded: u64,
    stored: u64,
    /// Loads that a thread has made one after the other: those of the thread with the most.
    longest: u64,
}

impl Traffic {
    /// Of a kernel on the GPU at a place of a scenario with so many.
    pub(crate) fn new(gpu: usize, gpus: usize) -> Self {
        let with = vec![Counts::default(); gpus + 1];
        Self {
            gpu,
            with,
            waits: Vec::new(),
            thread: 0,
            end: 0,
        }
    }

    fn place(&self, owner: Option<usize>) -> usize {
        owner.unwrap_or(self.with.len() - 1)
    }

    /// A new thread has this number among the resident ones.
    pub(crate) fn begin(&mut self, thread: usize) {
        let places = self.with.len();
        let start = thread * places;
        if self.waits.len() < start + places {
            self.waits.resize(start + places, 0);
        }
        if let Some(waits) = self.waits.get_mut(start..start + places) {
            waits.fill(0);
        }
    }

    /// The loads that follow are of this thread.
    pub(crate) fn turn_of(&mut self, thread: usize) {
        self.thread = thread * self.with.len();
    }

    #[inline]
    pub(crate) fn load(&mut self, owner: Option<usize>, address: u64, bytes: usize) {
        let place = self.place(owner);
        if let Some(counts) = self.with.get_mut(place) {
            counts.loads += 1;
            counts.loaded += bytes as u64;
            if address != self.end
                && let Some(waits) = self.waits.get_mut(self.thread + place)
            {
                *waits += 1;
                counts.longest = counts.longest.max(*waits);
            }
        }
        self.end = address + bytes as u64;
    }

    #[inline]
    pub(crate) fn store(&mut self, owner: Option<usize>, bytes: usize) {
        let place = self.place(owner);
        if let Some(counts) = self.with.get_mut(place) {
            counts.stored += bytes as u64;
        }
    }

    /// When a kernel that begins at `start` has ended: its busiest thread waits for each of its loads. One that looks at host memory may have
    /// waited for the host: then it ends no earlier than now, and how often it looked says nothing.
    pub(crate) fn end(&self, machine: &Machine, start: u64) -> u64 {
        let (speed, time) = (&machine.scenario.speed, &machine.time);
        let begun = start + speed.kernel_ns;
        let mut end = begun;
        let host = self.with.len() - 1;
        let waited = self.with.last().is_some_and(|counts| counts.loads > 0);
        for (owner, counts) in self.with.iter().enumerate() {
            let [loads, stores] = self.paths(owner, host);
            for (path, bytes) in [(loads, counts.loaded), (stores, counts.stored)] {
                if bytes > 0 {
                    end = end.max(time.move_bytes(speed, path, bytes, begun));
                }
            }
            if !waited {
                let each = match owner {
                    owner if owner == self.gpu => speed.local_load_ns,
                    _ => speed.peer_load_ns,
                };
                end = end.max(begun + counts.longest * each);
            }
        }
        if waited { end.max(time.now()) } else { end }
    }

    /// The ways of what is loaded and of what is stored.
    fn paths(&self, owner: usize, host: usize) -> [Path; 2] {
        let gpu = self.gpu;
        if owner == host {
            [Path::ToDevice(gpu), Path::ToHost(gpu)]
        } else if owner == gpu {
            [Path::Local(gpu); 2]
        } else {
            let (loads, stores) = ((owner, gpu), (gpu, owner));
            [loads, stores].map(|(from, to)| Path::Direct { from, to })
        }
    }
}
