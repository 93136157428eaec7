//! Which client a request comes from, and how often it may come. Behind a proxy that is trusted, the client is
//! the last address in `X-Forwarded-For` that is not a trusted proxy itself.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};
use std::num::NonZeroU32;
use std::sync::atomic::{AtomicU32, Ordering};

use actix_web::http::header::{self, HeaderMap, HeaderValue};
use governor::clock::{Clock as _, DefaultClock};
use governor::state::keyed::HashMapStateStore;
use governor::{Quota, RateLimiter};

use super::error::{Code, Problem};
use super::limits;
use crate::config::Network;

/// All `X-Forwarded-For` lines as the one list that they are: a proxy may add a line of its own below the client's.
fn forwarded(headers: &HeaderMap) -> Option<String> {
    let lines: Vec<_> = headers
        .get_all("x-forwarded-for")
        .map(|line| line.to_str().unwrap_or("unreadable"))
        .collect();
    (!lines.is_empty()).then(|| lines.join(","))
}

pub fn address(peer: IpAddr, forwarded: Option<&str>, trusted: &[Network]) -> IpAddr {
    let is_trusted = |address| trusted.iter().any(|network| network.contains(address));
    let peer = peer.to_canonical();
    if !is_trusted(peer) {
        return peer;
    }
    let mut client = peer;
    for hop in forwarded.unwrap_or_default().rsplit(',') {
        let Some(hop) = hop_address(hop.trim()) else {
            break;
        };
        client = hop.to_canonical();
        if !is_trusted(client) {
            break;
        }
    }
    client
}

/// An address, which some proxies write with its port.
fn hop_address(hop: &str) -> Option<IpAddr> {
    let bare = hop.parse().ok();
    bare.or_else(|| hop.parse::<SocketAddr>().ok().map(|socket| socket.ip()))
}

#[derive(Debug)]
pub struct Limiter {
    trusted: Vec<Network>,
    buckets: Option<RateLimiter<IpAddr, HashMapStateStore<IpAddr>, DefaultClock>>,
    since_sweep: AtomicU32,
}

/// Requests between two sweeps that forget clients who have long been quiet.
const SWEEP_EVERY: u32 = 10_000;

impl Limiter {
    /// Lets `per_second` requests of each client through; 0 lets all through.
    pub fn new(per_second: u32, trusted: Vec<Network>) -> Self {
        let buckets = NonZeroU32::new(per_second).map(|rate| {
            let burst = rate.saturating_mul(NonZeroU32::new(limits::RATE_BURST).unwrap_or(NonZeroU32::MIN));
            RateLimiter::hashmap(Quota::per_second(rate).allow_burst(burst))
        });
        Self {
            trusted,
            buckets,
            since_sweep: AtomicU32::new(0),
        }
    }

    pub fn is_proxy(&self, peer: Option<SocketAddr>) -> bool {
        let peer = peer.map(|peer| peer.ip().to_canonical());
        peer.is_some_and(|peer| self.trusted.iter().any(|network| network.contains(peer)))
    }

    pub fn address(&self, peer: Option<SocketAddr>, headers: &HeaderMap) -> Option<IpAddr> {
        let forwarded = forwarded(headers);
        Some(address(peer?.ip(), forwarded.as_deref(), &self.trusted))
    }

    /// The client that a request is counted for: an IPv4 address, or the /64 that an IPv6 host owns.
    pub fn client(&self, peer: Option<SocketAddr>, headers: &HeaderMap) -> Option<IpAddr> {
        self.address(peer, headers).map(bucket)
    }

    /// Refuses a client that comes too often, with the seconds to wait.
    pub fn check(&self, client: Option<IpAddr>) -> Result<(), Problem> {
        let (Some(buckets), Some(client)) = (&self.buckets, client) else {
            return Ok(());
        };
        if self.since_sweep.fetch_add(1, Ordering::Relaxed) >= SWEEP_EVERY {
            self.since_sweep.store(0, Ordering::Relaxed);
            buckets.retain_recent();
        }
        buckets.check_key(&client).map_err(|not_until| {
            let wait = not_until.wait_time_from(DefaultClock::default().now());
            let seconds = wait.as_secs() + 1;
            Problem::new(Code::RateLimited, format!("try again in {seconds} s"))
                .with_header(header::RETRY_AFTER, HeaderValue::from(seconds))
        })
    }
}

/// One bucket for an IPv4 address, and for the /64 that an IPv6 host owns.
fn bucket(client: IpAddr) -> IpAddr {
    match client {
        IpAddr::V4(_) => client,
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & (u128::MAX << 64))),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_client_is_the_last_hop_nobody_of_ours_vouches_for() {
        let trusted: Vec<Network> = vec!["10.0.0.0/8".parse().unwrap()];
        let client = |peer: &str, forwarded: Option<&str>| {
            address(peer.parse().unwrap(), forwarded, &trusted).to_string()
        };
        assert_eq!(
            client("203.0.113.9", Some("1.2.3.4")),
            "203.0.113.9",
            "not through a proxy of ours"
        );
        assert_eq!(
            client("10.0.0.2", Some("6.6.6.6, 198.51.100.7, 10.0.0.3")),
            "198.51.100.7"
        );
        assert_eq!(
            client("10.0.0.2", Some("198.51.100.7:4711")),
            "198.51.100.7",
            "with a port"
        );
        assert_eq!(client("10.0.0.2", None), "10.0.0.2");
        assert_eq!(client("10.0.0.2", Some("nonsense")), "10.0.0.2");
    }

    #[test]
    fn a_line_that_the_client_sent_does_not_hide_the_proxy_s_own() {
        let mut headers = HeaderMap::new();
        for line in ["6.6.6.6", "198.51.100.7"] {
            headers.append(
                header::HeaderName::from_static("x-forwarded-for"),
                HeaderValue::from_static(line),
            );
        }
        assert_eq!(forwarded(&headers).as_deref(), Some("6.6.6.6,198.51.100.7"));
        assert_eq!(forwarded(&HeaderMap::new()), None);
    }
}
