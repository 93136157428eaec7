//! From settings to a running server: listen, open the database, import the embedded records, build the knowledge,
//! serve. What fails says what to do.

mod background;
mod data_dir;
pub mod demo;
mod failure;
mod greeting;
mod policy;
mod resources;
mod seeds;
mod tab;
mod tell;

use std::future::Future;
use std::net::TcpListener;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use actix_web::dev::Server;
use actix_web::rt::net::TcpStream;
use actix_web::{HttpServer, web};
use kb_core::ids::Seq;
use rustix::net::sockopt::set_tcp_user_timeout;
use time::OffsetDateTime;

use crate::clock::{Clock, Random, SystemClock, SystemRandom};
use crate::config::{DataArgs, ServeArgs};
use crate::domain::accounts::{LoginLimiter, Passwords, people};
use crate::domain::correlate::{self, Correlator};
use crate::domain::outcomes::Shares;
use crate::domain::unmatched::Unmatched;
use crate::domain::workbench::{ReportLines, Workbench};
use crate::feed::{self, Generation};
use crate::store::{ConnectOptions, SeedOutcome, Store, connect};
use crate::telemetry::Metrics;
use crate::web::body::{Budgets, Patience};
use crate::web::client::Limiter;
use crate::web::compute::Queue;
use crate::web::crowd::{Counted, Crowd};
use crate::web::kept_facets::KeptFacets;
use crate::web::openid::OpenId;
use crate::web::places::Places;
use crate::web::shared::Shared;
use crate::web::state::{AppState, RequestIds, Settings};
use crate::web::token_outage::TokenOutage;
use crate::web::write_check::WriteCheck;
use crate::web::{app, limits, parameters, routes};

pub use failure::StartupError;
pub use greeting::greet;
pub use seeds::Seeds;
pub use tab::tab_module;

/// What a server takes from outside besides its settings. Tests put their own here.
#[derive(Debug)]
pub struct Environment {
    pub clock: Arc<dyn Clock>,
    pub random: Arc<dyn Random>,
    pub seeds: Seeds,
    pub patience: Patience,
}

impl Environment {
    /// The machine's clock and randomness.
    pub fn with(seeds: Seeds) -> Self {
        Self {
            clock: Arc::new(SystemClock),
            random: Arc::new(SystemRandom),
            seeds,
            patience: Patience::default(),
        }
    }
}

/// A server that is ready to serve.
pub struct Application {
    server: Server,
    port: u16,
    draining: Arc<AtomicBool>,
    state: web::Data<AppState>,
    background: background::Tasks,
    seeded: SeedOutcome,
    first_admin: Option<String>,
}

impl Application {
    /// Puts everything together. When it returns, connections are accepted and everything published is known.
    pub async fn build(settings: &ServeArgs, environment: Environment) -> Result<Self, StartupError> {
        resources::check_addresses()?;
        let crowd = Crowd::of(resources::descriptors());
        let listener = listen(&settings.listen)?;
        let port = listener.local_addr()?.port();
        let tab = tab::load(settings.tab.as_deref())?;
        let tell = tell::Tell::of(&settings.tell).map_err(|error| StartupError::Tell(error.to_string()))?;
        let store = open_store(&settings.data).await?;
        let now = environment.clock.now();
        let refused = |source| StartupError::Store {
            url: settings.data.shown(),
            source,
        };
        let seeded = seeds::import(store.as_ref(), environment.seeds, now, refused).await?;
        let first_admin = if settings.demo {
            None
        } else {
            first_admin(store.as_ref(), environment.random.as_ref(), now).await
        };
        let follower = feed::load(store.clone()).await;
        let follower = follower.map_err(|error| StartupError::Knowledge(error.to_string()))?;
        let stages = policy::stages(&settings.policy, &follower.knowledge().current())?;
        let correlator = Correlator::by(Arc::new(stages));
        judge_again(store.as_ref(), &correlator, &follower.knowledge().current()).await;
        let passwords = Passwords::new(environment.random.as_ref())
            .map_err(|error| StartupError::Passwords(error.to_string()))?;
        let openid = OpenId::of(&settings.oidc, settings.public_url.as_deref())
            .map_err(|error| StartupError::OpenId(error.to_string()))?;
        let shares = Shares::default();
        if let Err(error) = shares.refresh(store.as_ref()).await {
            tracing::warn!(%error, "votes on records were not read; they are tried again");
        }
        let draining = Arc::new(AtomicBool::new(false));
        let report_lines = ReportLines::new(Arc::clone(&store));
        let budgets = Budgets::of_server();
        let state = web::Data::new(AppState {
            workbench: Arc::new(Workbench::new(vec![Arc::new(report_lines)])),
            shares,
            unmatched: Arc::new(Unmatched::new(Arc::clone(&store))),
            store,
            knowledge: follower.knowledge(),
            correlator: Arc::new(correlator),
            clock: environment.clock,
            settings: Settings {
                public_url: settings
                    .public_url
                    .as_deref()
                    .map(|url| url.trim_end_matches('/').to_owned()),
                public_fleet: settings.public_fleet,
                demo: settings.demo,
                enrol_only: settings.enrol_only,
                anonymous_writing: settings.anonymous_writing,
                insecure_login: settings.insecure_login,
                login_header: settings.login_header.clone(),
                patience: environment.patience,
            },
            routes: routes().table(),
            parameters: parameters(),
            limiter: Limiter::new(settings.rate_limit, settings.trusted_proxies.clone()),
            passwords,
            openid,
            logins: LoginLimiter::default(),
            bodies: budgets.bodies,
            answers: budgets.answers,
            windows: budgets.windows,
            signatures: Shared::default(),
            facets: KeptFacets::default(),
            tab,
            tab_signatures: Shared::default(),
            exports: Places::new("exports", limits::EXPORTS_OF_CLIENT, limits::EXPORTS),
            texts: Places::new("texts", limits::TEXTS_OF_CLIENT, limits::TEXTS),
            queue: Queue::default(),
            crowd,
            write_check: WriteCheck::default(),
            token_outage: TokenOutage::default(),
            metrics: Metrics::new().map_err(|error| StartupError::Metrics(error.to_string()))?,
            request_ids: RequestIds::new(environment.random.as_ref())?,
            random: environment.random,
            draining: Arc::clone(&draining),
        });
        let background = background::Tasks::start(follower, &state, tell);
        let server = serve(listener, settings.workers, state.clone())?;
        Ok(Self {
            server,
            port,
            draining,
            state,
            background,
            seeded,
            first_admin,
        })
    }

    pub fn port(&self) -> u16 {
        self.port
    }

    /// Number of published records, and the seq that is known.
    pub fn knowledge(&self) -> (usize, Seq) {
        let generation = self.state.knowledge.current();
        (generation.len(), generation.seq)
    }

    /// What the import of the embedded records did.
    pub fn seeded(&self) -> &SeedOutcome {
        &self.seeded
    }

    /// Key of the link that makes the first administrator, where there is nobody yet.
    pub fn first_admin(&self) -> Option<&str> {
        self.first_admin.as_deref()
    }

    pub fn state(&self) -> web::Data<AppState> {
        self.state.clone()
    }

    /// Serves until `stop` resolves; requests under way then get [`limits::DRAIN`] to end.
    pub async fn run_until_stopped(self, stop: impl Future<Output = ()>) -> Result<(), StartupError> {
        let handle = self.server.handle();
        let (mut server, mut background) = (self.server, self.background);
        background.begin_to_serve(&self.state);
        let ended = tokio::select! {
            ended = &mut server => ended,
            () = stop => {
                self.draining.store(true, Ordering::Relaxed);
                tracing::info!("stopping: requests under way are finished");
                let ((), ended) = tokio::join!(handle.stop(true), server);
                ended
            }
        };
        background.stop().await;
        Ok(ended?)
    }
}

/// Has verdicts and findings made anew that other records or another policy decided. A server that cannot write serves readers all the same.
async fn judge_again(store: &dyn Store, correlator: &Correlator, generation: &Generation) {
    match correlate::judge_again(store, correlator, generation).await {
        Ok(0) => {}
        Ok(reports) => tracing::info!(
            reports,
            "reports that tell of nodes are judged again by the rules of this server"
        ),
        Err(error) => {
            tracing::warn!(%error, "reports keep verdicts and findings of another rule set: they were not marked to be judged again");
        }
    }
}

/// A server that cannot write serves readers all the same.
async fn first_admin(store: &dyn Store, random: &dyn Random, now: OffsetDateTime) -> Option<String> {
    let offered = people::offer_first_admin(store, random, now).await;
    offered.unwrap_or_else(|error| {
        tracing::warn!(%error, "no link for the first administrator was made");
        None
    })
}

/// Opens the database and brings it up to date.
pub async fn open_store(data: &DataArgs) -> Result<Arc<dyn Store>, StartupError> {
    if data.database.is_none() {
        data_dir::prepare(&data.data_dir)?;
    }
    let options = ConnectOptions {
        sqlite_max_bytes: data.sqlite_max_bytes,
        ..ConnectOptions::default()
    };
    connect(&data.url(), &options)
        .await
        .map_err(|source| StartupError::Store {
            url: data.shown(),
            source,
        })
}

fn listen(address: &str) -> Result<TcpListener, StartupError> {
    TcpListener::bind(address).map_err(|source| match source.kind() {
        std::io::ErrorKind::AddrInUse => StartupError::PortInUse(address.to_owned()),
        _ => StartupError::Listen {
            address: address.to_owned(),
            source,
        },
    })
}

/// Has the system break a connection whose client takes nothing of its answer for so long. What fills the system's buffers
/// is not asked for again by the program, so that it would not notice.
fn give_up_unread(connection: &TcpStream, patience: Duration) {
    let milliseconds = u32::try_from(patience.as_millis()).unwrap_or(u32::MAX);
    if let Err(error) = set_tcp_user_timeout(connection, milliseconds) {
        tracing::debug!(%error, "answers of this connection wait for their reader without an end");
    }
}

fn serve(
    listener: TcpListener,
    workers: Option<usize>,
    state: web::Data<AppState>,
) -> Result<Server, StartupError> {
    let crowd = state.crowd.clone();
    let patience = state.settings.patience.grace;
    let count = workers.unwrap_or_else(|| std::thread::available_parallelism().map_or(1, usize::from));
    let room = crowd.room() / count.max(1);
    let mut server = HttpServer::new(move || app(state.clone()))
        .on_connect(move |connection, data| {
            data.insert::<Counted>(crowd.connected());
            if let Some(connection) = connection.downcast_ref::<TcpStream>() {
                give_up_unread(connection, patience);
            }
        })
        // Beyond it the descriptors would end, and accepting would fail; so it waits.
        .max_connections(room.max(1))
        .h1_write_buffer_size(limits::ANSWER_PIECE_BYTES)
        // An answer goes out in pieces: the last one must not wait until the client has acknowledged the others.
        .tcp_nodelay(true)
        .client_request_timeout(limits::HEADER_TIME)
        .keep_alive(limits::KEEP_ALIVE)
        // Who sends no more has gone: nothing is computed for them.
        .h1_allow_half_closed(false)
        .shutdown_timeout(limits::DRAIN.as_secs())
        .disable_signals();
    if let Some(workers) = workers {
        server = server.workers(workers.max(1));
    }
    Ok(server.listen(listener)?.run())
}
