//! A client whose end nobody waits for. The last handle of reqwest's waits for its thread when it is dropped, and that for a name
//! that is still looked up, whatever limit the request had.

use std::ops::Deref;
use std::sync::mpsc::{Sender, channel};
use std::thread;

use reqwest::blocking::Client;

pub(super) struct Unwaited {
    client: Client,
    /// Behind the client: fields are dropped in their order.
    is_dropped: Option<Sender<()>>,
}

impl Unwaited {
    pub(super) fn of(client: Client) -> Self {
        Self {
            client,
            is_dropped: None,
        }
    }
}

impl Deref for Unwaited {
    type Target = Client;

    fn deref(&self) -> &Client {
        &self.client
    }
}

impl Drop for Unwaited {
    /// Leaves the last handle to a thread that holds up nobody. Where none can be started, this one waits.
    fn drop(&mut self) {
        let (is_dropped, dropped) = channel();
        let last = self.client.clone();
        let started = thread::Builder::new().spawn(move || {
            // Ends with an error, as nothing is sent.
            let _ = dropped.recv();
            drop(last);
        });
        self.is_dropped = started.is_ok().then_some(is_dropped);
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc::Receiver;
    use std::sync::{Arc, Mutex};
    use std::time::{Duration, Instant};

    use reqwest::dns::{Name, Resolve, Resolving};

    use super::*;

    /// As long as the system waits for name servers that do not answer.
    const LOOK_UP: Duration = Duration::from_secs(30);

    /// Looks a name up until the test is over.
    struct Slow(Arc<Mutex<Receiver<()>>>);

    impl Resolve for Slow {
        fn resolve(&self, _name: Name) -> Resolving {
            let over = Arc::clone(&self.0);
            Box::pin(async move {
                let _ = over.lock().unwrap().recv_timeout(LOOK_UP);
                Err("no name server answers".into())
            })
        }
    }

    #[test]
    fn a_name_that_is_still_looked_up_holds_nobody() {
        let _ = rustls::crypto::ring::default_provider().install_default();
        let (end, over) = channel();
        let client = Client::builder()
            .tls_certs_only(Vec::new())
            .no_proxy()
            .dns_resolver(Arc::new(Slow(Arc::new(Mutex::new(over)))))
            .build()
            .unwrap();
        let client = Unwaited::of(client);
        let began = Instant::now();
        let answer = client
            .get("http://server.invalid")
            .timeout(Duration::from_millis(100))
            .send();
        assert!(answer.unwrap_err().is_timeout());
        drop(client);
        assert!(began.elapsed() < LOOK_UP / 2, "{:?}", began.elapsed());
        drop(end);
    }
}
