//! The tools: match, search, record, graph, outcome.

use std::sync::Arc;

use kb_core::ids::RecordId;
use rmcp::handler::server::wrapper::Parameters;
use rmcp::model::{CallToolResult, Implementation, ServerCapabilities, ServerConfig};
use rmcp::service::RequestContext;
use rmcp::{RoleServer, ServerHandler, tool, tool_handler, tool_router};
use serde::Serialize;
use serde_json::value::RawValue;

use super::answer::{json, result, with_text};
use super::arguments::{GraphArguments, MatchArguments, OutcomeArguments, RecordArguments, SearchArguments};
use super::schemas;
use crate::clock::Clock;
use crate::domain::answer_json::{Expand, Explaining, explain};
use crate::domain::lookup::MatchOptions;
use crate::domain::outcomes::{self, OutcomeVote, Voting};
use crate::domain::records::{self, Found};
use crate::domain::steps::Steps;
use crate::domain::tokens::{self, Actor};
use crate::domain::{graph, search};
use crate::feed::{Generation, Knowledge, PublishedRecord};
use crate::render::i18n::Language;
use crate::render::{answer_text, graph_text, record, search_text};
use crate::store::{Scope, Store, TokenStore};
use crate::web::auth::{Access, Caller, Opened};
use crate::web::body::Budget;
use crate::web::compute::{ALL_RECORDS, Desk};
use crate::web::error::{Code, Problem};
use crate::web::limits;
use peerless_search::{Filters, KnowledgeStamp, SearchRequest};

/// What a model is told about the whole.
const INSTRUCTIONS: &str = "Peerless explains errors of GPUs and of the software on them. Give `match` the text as it was \
    printed; it names the records that explain it, the first cause, what to do and what not to try. An answer without \
    matches, or with matches that are all `harmless`, means that no known error stands in the text: do not guess one. Use `search` for words and codes, `record` \
    for all that is known of one error, `graph` for what it leads to, and `outcome` to say what came of following it.";

#[derive(Debug, Clone)]
pub enum Source {
    Live(Arc<Knowledge>),
    /// As it was when the program started.
    Fixed(Arc<Generation>),
}

#[derive(Debug, Clone)]
pub struct Tools {
    pub source: Source,
    /// Where outcomes are kept, where there is a database.
    pub store: Option<Arc<dyn Store>>,
    pub clock: Arc<dyn Clock>,
    /// Token of whoever started the program, where no request says who calls; looked up at each call that needs it.
    pub token: Option<Arc<str>>,
    /// Where users reach the server, for links.
    pub base_url: Option<String>,
    pub answers: Budget,
    pub desk: Desk,
}

#[derive(Serialize)]
struct RecordAnswer<'a> {
    id: &'a RecordId,
    revision: u32,
    document: Box<RawValue>,
    ext: Box<RawValue>,
    #[serde(skip_serializing_if = "Option::is_none")]
    page: Option<String>,
    kb: KnowledgeStamp,
}

#[tool_router(router = tool_router)]
impl Tools {
    /// Explains a text.
    #[tool(
        name = "match",
        description = "Explain an error message, traceback or log from GPU software. Returns the known errors that stand \
            in it with line numbers, which one came first and caused the others, why, what to do and what wastes time. \
            No matches, or only `harmless` ones, means no known error; `candidates` are suggestions only.",
        output_schema = schemas::of("ExplainedAnswer"),
        annotations(title = "Explain an error", read_only_hint = true, open_world_hint = false)
    )]
    async fn match_text(&self, Parameters(asked): Parameters<MatchArguments>) -> CallToolResult {
        let most = usize::try_from(limits::JSON_BYTES).unwrap_or(usize::MAX);
        if asked.text.len() > most {
            let detail =
                format!("the text has over {most} bytes: send it to POST /api/v1/match as text/plain");
            return result(Err(Problem::new(Code::TooLarge, detail)));
        }
        let (generation, base_url) = (self.generation(), self.base_url.clone());
        let options = MatchOptions {
            environment: asked.environment,
            without_text: false,
        };
        let bytes = asked.text.len();
        let mut steps = Steps::start(&generation, asked.text, options, limits::WORK_TIME);
        let found = self.desk.in_turns(bytes, move || steps.step()).await;
        let found = found.map_err(Problem::from);
        let answer = match found.and_then(|found| found.map_err(Problem::from)) {
            Ok(answer) => answer,
            Err(problem) => return result(Err(problem)),
        };
        let mut share = self.answers.share();
        let made = move || {
            // What is made of an answer on its way is many times as large as its text.
            share.grow_to(limits::MCP_MATCH_BYTES)?;
            let text = answer_text::render(&answer, &generation, base_url.as_deref());
            let explaining = Explaining {
                generation,
                base_url,
                expand: Expand::Brief,
            };
            with_text(text, &explain(answer, &explaining))
        };
        let made = self.desk.go_on(bytes, made).await;
        result(made.unwrap_or_else(|error| Err(error.into())))
    }

    /// Searches.
    #[tool(
        name = "search",
        description = "Search the records by words or by a code (\"Xid 79\", \"CUDA error 217\"). Returns ids and signatures, \
            best first; read one with `record`.",
        output_schema = schemas::of("SearchAnswer"),
        annotations(title = "Search records", read_only_hint = true, open_world_hint = false)
    )]
    async fn search(&self, Parameters(asked): Parameters<SearchArguments>) -> CallToolResult {
        if asked.query.len() > limits::QUERY_BYTES {
            let detail = format!(
                "query has at most {} bytes; give a log to `match`",
                limits::QUERY_BYTES
            );
            return result(Err(Problem::new(Code::BadQuery, detail)));
        }
        let request = SearchRequest {
            text: asked.query,
            filters: Filters {
                domain: asked.domain,
                category: asked.category,
                tag: asked.tag,
                ..Filters::default()
            },
            limit: asked.limit,
            cursor: asked.cursor,
            ..SearchRequest::default()
        };
        let generation = self.generation();
        self.computed(move || {
            let answer = search::search(&generation, &request)?;
            with_text(search_text::render(&answer, &generation), &answer)
        })
        .await
    }

    /// Reads a record.
    #[tool(
        name = "record",
        description = "Read everything known about one error by its id: cause, workarounds, dead ends, versions, what it \
            leads to (`document`), and codes, examples and sources (`ext`).",
        output_schema = schemas::record(),
        annotations(title = "Read a record", read_only_hint = true, open_world_hint = false)
    )]
    async fn record(&self, Parameters(asked): Parameters<RecordArguments>) -> CallToolResult {
        result(self.read_record(&asked.id))
    }

    /// Looks around a record.
    #[tool(
        name = "graph",
        description = "What an error leads to, what comes before it and what it is confused with; or, with `to`, the shortest \
            ways by which one error leads to another.",
        output_schema = schemas::any_of(&["NeighbourhoodAnswer", "PathAnswer"]),
        annotations(title = "Follow causes", read_only_hint = true, open_world_hint = false)
    )]
    async fn graph(&self, Parameters(asked): Parameters<GraphArguments>) -> CallToolResult {
        let tools = self.clone();
        self.computed(move || tools.around(&asked)).await
    }

    /// Keeps a vote.
    #[tool(
        name = "outcome",
        description = "Say whether something that a record advises helped, after it was really tried. Needs a token with the \
            scope `report`. An editor reads it; it counts in no share. One vote for each action and GPU model; the last one counts.",
        output_schema = schemas::of("OutcomeReceipt"),
        annotations(
            title = "Report an outcome",
            read_only_hint = false,
            destructive_hint = false,
            idempotent_hint = true,
            open_world_hint = false
        )
    )]
    async fn outcome(
        &self,
        Parameters(asked): Parameters<OutcomeArguments>,
        context: RequestContext<RoleServer>,
    ) -> CallToolResult {
        result(self.vote(asked, &context).await)
    }
}

#[tool_handler(router = Self::tool_router())]
impl ServerHandler for Tools {
    fn get_info(&self) -> ServerConfig {
        let this = Implementation::new("peerless", env!("CARGO_PKG_VERSION"));
        ServerConfig::new(ServerCapabilities::builder().enable_tools().build())
            .with_server_info(this)
            .with_instructions(INSTRUCTIONS)
    }
}

impl Tools {
    /// Runs what computes on the threads that are there for it.
    async fn computed(
        &self,
        work: impl FnOnce() -> Result<CallToolResult, Problem> + Send + 'static,
    ) -> CallToolResult {
        let done = self.desk.compute(ALL_RECORDS, work).await;
        result(done.unwrap_or_else(|error| Err(error.into())))
    }

    fn generation(&self) -> Arc<Generation> {
        match &self.source {
            Source::Live(knowledge) => knowledge.current(),
            Source::Fixed(generation) => Arc::clone(generation),
        }
    }

    fn read_record(&self, id: &str) -> Result<CallToolResult, Problem> {
        let generation = self.generation();
        let published = find(&generation, id)?;
        let neighbours = generation.graph.neighbours(published.record.id());
        let source = record::Source::published(&published, &neighbours);
        let text = record::text::render(source, Language::English, self.base_url.as_deref());
        let raw = |text: &str| {
            RawValue::from_string(text.trim().to_owned()).map_err(|error| Problem::internal(&error))
        };
        let id = published.record.id();
        let answer = RecordAnswer {
            id,
            revision: published.revision.0,
            document: raw(&published.record.document_text)?,
            ext: raw(&published.record.annex_text)?,
            page: self.base_url.as_ref().map(|url| format!("{url}/r/{id}")),
            kb: KnowledgeStamp { seq: generation.seq },
        };
        with_text(text, &answer)
    }

    fn around(&self, asked: &GraphArguments) -> Result<CallToolResult, Problem> {
        let generation = self.generation();
        let from = find(&generation, &asked.id)?.record.id().clone();
        let Some(to) = &asked.to else {
            let around = graph::neighbourhood(&generation, &from, asked.depth.unwrap_or(1), &[])?;
            return with_text(graph_text::neighbourhood(&around), &around);
        };
        let to = find(&generation, to)?.record.id().clone();
        let ways = graph::path(&generation, &from, &to, &[])?;
        with_text(graph_text::path(&ways), &ways)
    }

    async fn vote(
        &self,
        asked: OutcomeArguments,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, Problem> {
        let Some(store) = &self.store else {
            return Err(Problem::new(
                Code::WrongState,
                "outcomes are kept by a server or in its database, and there is none here",
            ));
        };
        let caller = Caller(self.caller(store.as_ref(), context).await?);
        Access::Scope(Scope::Report).check(&caller, Opened::default())?;
        let Some(reporter) = caller.0 else {
            return Err(Problem::new(Code::Unauthorized, "an outcome needs a token"));
        };
        let generation = self.generation();
        let id = find(&generation, &asked.id)?.record.id().clone();
        let vote = OutcomeVote {
            tried: asked.tried,
            worked: asked.worked,
            came_back: asked.came_back,
            environment: asked.environment,
            revision: asked.revision,
        };
        let now = self.clock.now();
        let voting = Voting::Assistant(&reporter);
        let cast = outcomes::vote((store.as_ref(), &generation), &id, vote, voting, now).await?;
        json(&cast.receipt)
    }

    /// Who calls: the sender of the request, or the holder of the program's token as long as that is good.
    async fn caller(
        &self,
        store: &dyn TokenStore,
        context: &RequestContext<RoleServer>,
    ) -> Result<Option<Actor>, Problem> {
        match (sender(context), &self.token) {
            (Some(sender), _) => Ok(Some(sender)),
            (None, Some(token)) => Ok(Some(tokens::authenticate(store, token, self.clock.now()).await?)),
            (None, None) => Ok(None),
        }
    }
}

fn sender(context: &RequestContext<RoleServer>) -> Option<Actor> {
    let request = context.extensions.get::<http::request::Parts>()?;
    request.extensions.get::<Caller>()?.0.clone()
}

fn find(generation: &Generation, id: &str) -> Result<Arc<PublishedRecord>, Problem> {
    let nothing = |id: &str| Problem::new(Code::NotFound, records::missing(generation, id));
    match records::find(generation, id)? {
        Found::Published(published) => Ok(published),
        Found::Moved(now) => generation.record(&now).cloned().ok_or_else(|| nothing(id)),
        Found::Unpublished(_) => Err(nothing(id)),
    }
}
