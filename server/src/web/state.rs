//! What handlers work with. One value for all workers, read-only; what changes inside has its own lock.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::access::Opened;
use super::body::{Budget, Patience};
use super::client::Limiter;
use super::compute::Queue;
use super::crowd::Crowd;
use super::kept_facets::KeptFacets;
use super::openid::OpenId;
use super::parameters::Parameters;
use super::places::Places;
use super::routes::RouteTable;
use super::shared::Shared;
use super::tab_module::TabModule;
use super::token_outage::TokenOutage;
use super::write_check::WriteCheck;
use crate::clock::{Clock, Random, RandomError};
use crate::domain::accounts::{LoginLimiter, Passwords};
use crate::domain::correlate::Correlator;
use crate::domain::outcomes::Shares;
use crate::domain::unmatched::Unmatched;
use crate::domain::workbench::Workbench;
use crate::feed::Knowledge;
use crate::store::Store;
use crate::telemetry::Metrics;

#[derive(Debug, Clone, Default)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of the command line")]
pub struct Settings {
    /// Where users reach this server, without a slash at the end; absent: relative links.
    pub public_url: Option<String>,
    /// Nodes and reports may be read by everybody.
    pub public_fleet: bool,
    /// All nodes are a demo's.
    pub demo: bool,
    /// Reports are taken from enrolled nodes alone.
    pub enrol_only: bool,
    /// People may write without a login.
    pub anonymous_writing: bool,
    /// Logins over plain http from other machines are let in.
    pub insecure_login: bool,
    /// Header in which a proxy names who it has signed on, in lower case.
    pub login_header: Option<String>,
    pub patience: Patience,
}

impl Settings {
    pub fn opened(&self) -> Opened {
        Opened {
            fleet: self.public_fleet,
            writing: self.anonymous_writing,
        }
    }
}

#[derive(Debug)]
pub struct AppState {
    pub store: Arc<dyn Store>,
    /// Records, matcher, index and graph of one seq, swapped whole.
    pub knowledge: Arc<Knowledge>,
    pub correlator: Arc<Correlator>,
    pub workbench: Arc<Workbench>,
    pub shares: Shares,
    pub unmatched: Arc<Unmatched>,
    pub clock: Arc<dyn Clock>,
    pub settings: Settings,
    pub routes: RouteTable,
    pub parameters: Parameters,
    pub limiter: Limiter,
    pub passwords: Passwords,
    pub logins: LoginLimiter,
    pub openid: Option<OpenId>,
    pub bodies: Budget,
    /// Memory for answers that are made whole and sent piece by piece.
    pub answers: Budget,
    /// Memory for what decompressors look back on.
    pub windows: Budget,
    /// The answer of `GET /signatures`.
    pub signatures: Shared,
    pub facets: KeptFacets,
    pub tab: Option<TabModule>,
    pub tab_signatures: Shared,
    pub exports: Places,
    /// Texts of which the rest is awaited.
    pub texts: Places,
    pub queue: Queue,
    pub crowd: Crowd,
    pub write_check: WriteCheck,
    pub token_outage: TokenOutage,
    pub metrics: Metrics,
    pub request_ids: RequestIds,
    pub random: Arc<dyn Random>,
    /// True once the server has been told to stop: `/readyz` says no, requests under way are finished.
    pub draining: Arc<AtomicBool>,
}

/// Names requests: a random part for this process, then a count.
#[derive(Debug)]
pub struct RequestIds {
    process: u32,
    count: AtomicU64,
}

impl RequestIds {
    pub fn new(random: &dyn Random) -> Result<Self, RandomError> {
        let mut bytes = [0; 4];
        random.fill(&mut bytes)?;
        Ok(Self {
            process: u32::from_be_bytes(bytes),
            count: AtomicU64::new(0),
        })
    }

    pub fn next(&self) -> String {
        format!(
            "{:08x}-{}",
            self.process,
            self.count.fetch_add(1, Ordering::Relaxed)
        )
    }
}
