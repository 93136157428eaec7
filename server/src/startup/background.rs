//! What runs beside the requests: following the feed, and correlating again when knowledge changed.

use tokio::sync::watch;
use tokio::task::JoinHandle;

use crate::feed::{DEFAULT_INTERVAL, Follower};

/// The tasks of one server.
pub(super) struct Tasks {
    stop: watch::Sender<bool>,
    follower: JoinHandle<()>,
}

impl Tasks {
    /// Starts them.
    pub(super) fn start(follower: Follower) -> Self {
        let (stop, mut stopped) = watch::channel(false);
        let shutdown = async move {
            // An error means that the sender is gone, and with it the server.
            let _ = stopped.wait_for(|stop| *stop).await;
        };
        let follower = tokio::spawn(follower.run(DEFAULT_INTERVAL, shutdown));
        Self { stop, follower }
    }

    /// Stops them and waits until they have.
    pub(super) async fn stop(self) {
        // No receiver: the task ended before.
        let _ = self.stop.send(true);
        if self.follower.await.is_err() {
            tracing::error!("the task that follows the feed had panicked");
        }
    }
}
