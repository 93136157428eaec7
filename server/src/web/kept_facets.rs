//! What sets affected nodes apart, kept for a while: all nodes are read and looked at for it, once at a time.

use std::sync::Arc;

use time::{Duration, OffsetDateTime};
use tokio::sync::Mutex;

use super::compute::{ALL_RECORDS, Desk};
use super::error::Problem;
use crate::domain::facets::{Facets, Fleet, Work};
use crate::store::FacetStore;

const KEPT_FOR: Duration = Duration::minutes(5);

/// An answer and when it was computed.
type Kept = (OffsetDateTime, Arc<Facets>);

/// The last answers: of real nodes, and of simulated ones.
#[derive(Debug, Default)]
pub struct KeptFacets(Mutex<[Option<Kept>; 2]>);

impl KeptFacets {
    /// The answer, at most five minutes old. Who asks while it is computed waits for the same one.
    pub(super) async fn get(
        &self,
        desk: &Desk,
        store: &dyn FacetStore,
        (simulated, now): (bool, OffsetDateTime),
    ) -> Result<Kept, Problem> {
        let [real, made_up] = &mut *self.0.lock().await;
        let kept = if simulated { made_up } else { real };
        if let Some((at, facets)) = kept
            && *at <= now
            && now - *at < KEPT_FOR
        {
            return Ok((*at, Arc::clone(facets)));
        }
        let fleet = Fleet::read(store, simulated).await?;
        let mut work = None;
        let mut fleet = Some(fleet);
        let step = move || {
            let Some(fleet) = fleet.take() else {
                return work.as_mut().and_then(Work::step);
            };
            work = Some(Work::new(fleet));
            None
        };
        let facets = Arc::new(desk.in_turns(ALL_RECORDS, step).await?);
        *kept = Some((now, Arc::clone(&facets)));
        Ok((now, facets))
    }
}
