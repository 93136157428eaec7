//! A network between agent and server that breaks off: at once, within the request, or within the answer.

use std::io::{self, Read, Write};
use std::net::{Ipv4Addr, Shutdown, SocketAddr, TcpListener, TcpStream};
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

/// The relay; its thread ends with the program.
pub(super) struct Relay {
    pub(super) address: String,
    is_calm: Arc<AtomicBool>,
    broken: Arc<AtomicU64>,
}

impl Relay {
    pub(super) fn start(server: SocketAddr, seed: u64) -> io::Result<Self> {
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0))?;
        let address = format!("http://{}", listener.local_addr()?);
        let is_calm = Arc::new(AtomicBool::new(false));
        let broken = Arc::new(AtomicU64::new(0));
        let (calm, count) = (Arc::clone(&is_calm), Arc::clone(&broken));
        let mut random = Random::new(seed);
        std::thread::spawn(move || {
            for client in listener.incoming().flatten() {
                let breaks = !calm.load(Ordering::SeqCst) && random.below(3) == 0;
                // A report of a node without GPUs has a few kilobytes, an answer some hundred bytes.
                let limits = breaks.then(|| (random.below(6_000), random.below(400)));
                if breaks {
                    count.fetch_add(1, Ordering::SeqCst);
                }
                std::thread::spawn(move || {
                    // Whichever side is gone, the other one learns it when its stream is closed.
                    let _ = relay(&client, server, limits);
                    let _ = client.shutdown(Shutdown::Both);
                });
            }
        });
        Ok(Self {
            address,
            is_calm,
            broken,
        })
    }

    pub(super) fn calm(&self) {
        self.is_calm.store(true, Ordering::SeqCst);
    }

    pub(super) fn broken(&self) -> u64 {
        self.broken.load(Ordering::SeqCst)
    }
}

/// Passes bytes both ways, at most as many as the limits say.
fn relay(client: &TcpStream, server: SocketAddr, limits: Option<(u64, u64)>) -> io::Result<()> {
    let server = TcpStream::connect(server)?;
    let (up, down) = limits.unwrap_or((u64::MAX, u64::MAX));
    let (from, to) = (client.try_clone()?, server.try_clone()?);
    let upwards = std::thread::spawn(move || {
        let _ = pass(&from, &to, up);
        if limits.is_some() {
            let _ = to.shutdown(Shutdown::Both);
        }
    });
    let passed = pass(&server, client, down);
    let _ = client.shutdown(Shutdown::Both);
    let _ = server.shutdown(Shutdown::Both);
    let _ = upwards.join();
    passed
}

fn pass(mut from: &TcpStream, mut to: &TcpStream, limit: u64) -> io::Result<()> {
    let mut piece = [0; 4096];
    let mut left = limit;
    while left > 0 {
        let most = usize::try_from(left).map_or(piece.len(), |left| left.min(piece.len()));
        let read = from.read(piece.get_mut(..most).unwrap_or_default())?;
        if read == 0 {
            return Ok(());
        }
        to.write_all(piece.get(..read).unwrap_or_default())?;
        left -= read as u64;
    }
    Ok(())
}

/// G. Marsaglia, "Xorshift RNGs", Journal of Statistical Software 8 (2003): the triple 13, 7, 17.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Self {
        Self(seed | 1)
    }

    pub(super) fn below(&mut self, limit: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % limit
    }
}
