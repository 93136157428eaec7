//! The records that answers on the command line are made from: those of the database, and those that ship with the program
//! where it holds none of them.

use std::sync::Arc;

use clap::Args;

use super::open_existing;
use crate::bundle;
use crate::config::DataArgs;
use crate::feed::{self, Follower, Generation};
use crate::store::{SeedSource, Store};

/// Which records answers are made from.
#[derive(Debug, Args)]
pub(super) struct KnowledgeArgs {
    /// Answer from the database alone, also where no server has brought the records that ship with this program into it
    #[arg(long, env = "PEERLESS_WITHOUT_SHIPPED")]
    without_shipped: bool,
    #[command(flatten)]
    pub(super) data: DataArgs,
}

impl KnowledgeArgs {
    /// The records at hand. The database is used where it is named, or is in the data folder already; it is not made for this.
    pub(super) async fn current(&self) -> anyhow::Result<Arc<Generation>> {
        let generation = match self.database().await? {
            Some((_, follower)) => follower.knowledge().current(),
            None => Arc::new(feed::offline(bundle::embedded()?)?),
        };
        // The process ends after its answer: to free each record before that would only take time.
        std::mem::forget(Arc::clone(&generation));
        Ok(generation)
    }

    /// The database and its records; `None` where there is no database, so that the records of this program are all there is.
    pub(super) async fn database(&self) -> anyhow::Result<Option<(Arc<dyn Store>, Follower)>> {
        let there = self.data.database.is_some() || self.data.sqlite_file().try_exists()?;
        if !there && !self.without_shipped {
            return Ok(None);
        }
        let store = open_existing(&self.data).await?;
        let follower = self.follow(&store).await?;
        Ok(Some((store, follower)))
    }

    /// A database's records. If no server ever brought what ships, that is added: "no known error" would be untrue.
    pub(super) async fn follow(&self, store: &Arc<dyn Store>) -> anyhow::Result<Follower> {
        if self.without_shipped || store.was_seeded(SeedSource::Program).await? {
            return Ok(feed::load(store.clone()).await?);
        }
        let shipped = bundle::embedded()?;
        eprintln!(
            "peerless: no server brought the records that ship with this program into {}: all {} are used beside its own \
             (--without-shipped leaves them out)",
            self.data.shown(),
            shipped.len()
        );
        Ok(feed::load_beside(store.clone(), shipped).await?)
    }
}
