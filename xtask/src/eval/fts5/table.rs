//! An FTS5 table in memory with a column for each text that our index has.

use anyhow::Result;
use kb_core::ids::RecordId;
use peerless_search::SearchDoc;
use sqlx::{AssertSqlSafe, Connection as _, Row as _, SqliteConnection};

use super::Task;
use crate::eval::ask::rank;
use crate::eval::real::queries::HITS;
use crate::eval::score::Ranks;

const COLUMNS: usize = 9;
/// Weights that are tried for a column.
const WEIGHTS: [f64; 6] = [0.5, 1.0, 2.0, 4.0, 8.0, 16.0];
/// Times that each column is tuned in turn.
const ROUNDS: usize = 2;

/// How FTS5 cuts words.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Tokenizer {
    /// `unicode61`.
    Words,
    /// `unicode61` with `_` as a letter.
    CodeWords,
    Trigrams,
}

impl Tokenizer {
    pub(super) const ALL: [Self; 3] = [Self::Words, Self::CodeWords, Self::Trigrams];

    pub(super) fn name(self) -> &'static str {
        match self {
            Self::Words => "unicode61",
            Self::CodeWords => "unicode61 with _",
            Self::Trigrams => "trigram",
        }
    }

    fn sql(self) -> &'static str {
        match self {
            Self::Words => "unicode61",
            Self::CodeWords => "unicode61 tokenchars ''_''",
            Self::Trigrams => "trigram",
        }
    }
}

pub(super) struct Table {
    connection: SqliteConnection,
    tokenizer: Tokenizer,
    weights: [f64; COLUMNS],
}

impl Table {
    pub(super) async fn new(tokenizer: Tokenizer, documents: &[SearchDoc]) -> Result<Self> {
        let mut connection = SqliteConnection::connect("sqlite::memory:").await?;
        let create = format!(
            "CREATE VIRTUAL TABLE f USING fts5(id, signature, signature_zh, codes, tags, root_cause, root_cause_zh, \
             workarounds, dead_ends, tokenize = '{}')",
            tokenizer.sql()
        );
        sqlx::query(AssertSqlSafe(create))
            .execute(&mut connection)
            .await?;
        let mut transaction = connection.begin().await?;
        for document in documents {
            sqlx::query("INSERT INTO f VALUES (?, ?, ?, ?, ?, ?, ?, ?, ?)")
                .bind(document.id.as_str())
                .bind(&document.signature)
                .bind(document.signature_zh.as_deref().unwrap_or_default())
                .bind(document.codes.join("\n"))
                .bind(document.tags.join("\n"))
                .bind(&document.root_cause)
                .bind(document.root_cause_zh.as_deref().unwrap_or_default())
                .bind(document.workarounds.join("\n"))
                .bind(document.dead_ends.join("\n"))
                .execute(&mut *transaction)
                .await?;
        }
        transaction.commit().await?;
        sqlx::query("INSERT INTO f(f) VALUES ('optimize')")
            .execute(&mut connection)
            .await?;
        Ok(Self {
            connection,
            tokenizer,
            weights: [1.0; COLUMNS],
        })
    }

    /// Finds the weights with which it answers these queries best, one column after the other, and keeps them.
    pub(super) async fn tune(&mut self, tasks: &[Task]) -> Result<String> {
        self.use_weights().await?;
        let mut best = self.ranks(tasks).await?.mrr();
        for _ in 0..ROUNDS {
            for column in 0..COLUMNS {
                for weight in WEIGHTS {
                    let before = self.weights;
                    if let Some(place) = self.weights.get_mut(column) {
                        *place = weight;
                    }
                    self.use_weights().await?;
                    let reached = self.ranks(tasks).await?.mrr();
                    if reached > best {
                        best = reached;
                    } else {
                        self.weights = before;
                    }
                }
            }
        }
        self.use_weights().await?;
        Ok(self.shown_weights())
    }

    pub(super) async fn weigh_as(&mut self, other: &Self) -> Result<()> {
        self.weights = other.weights;
        self.use_weights().await
    }

    fn shown_weights(&self) -> String {
        let weights: Vec<String> = self.weights.iter().map(ToString::to_string).collect();
        weights.join(", ")
    }

    async fn use_weights(&mut self) -> Result<()> {
        sqlx::query("INSERT INTO f(f, rank) VALUES ('rank', ?)")
            .bind(format!("bm25({})", self.shown_weights()))
            .execute(&mut self.connection)
            .await?;
        Ok(())
    }

    pub(super) async fn ranks(&mut self, tasks: &[Task]) -> Result<Ranks> {
        let mut ranks = Ranks::default();
        for task in tasks {
            ranks.add(rank(&self.hits(&task.text).await?, &task.right));
        }
        Ok(ranks)
    }

    /// The best hits; the statement is prepared once.
    pub(super) async fn hits(&mut self, text: &str) -> Result<Vec<RecordId>> {
        let Some(expression) = expression(self.tokenizer, text) else {
            return Ok(Vec::new());
        };
        let rows = sqlx::query("SELECT id FROM f WHERE f MATCH ? ORDER BY rank LIMIT ?")
            .bind(expression)
            .bind(i64::try_from(HITS)?)
            .fetch_all(&mut self.connection)
            .await?;
        let ids = rows.iter().map(|row| Ok(row.try_get::<String, _>(0)?.parse()?));
        ids.collect()
    }

    pub(super) async fn nothing(&mut self) -> Result<()> {
        sqlx::query("SELECT 1").fetch_all(&mut self.connection).await?;
        Ok(())
    }
}

/// Any of the words, the last one as a beginning; trigrams need three characters, and Chinese is cut into them.
fn expression(tokenizer: Tokenizer, text: &str) -> Option<String> {
    let quoted = |word: &str| format!("\"{}\"", word.replace('"', "\"\""));
    let words: Vec<&str> = text.split_whitespace().collect();
    let mut terms: Vec<String> = Vec::new();
    for (number, word) in words.iter().enumerate() {
        match tokenizer {
            Tokenizer::Trigrams => {
                let characters: Vec<char> = word.chars().collect();
                let is_ascii = word.is_ascii();
                if is_ascii && characters.len() >= 3 {
                    terms.push(quoted(word));
                } else {
                    let windows = characters.windows(3);
                    terms.extend(windows.map(|window| quoted(&window.iter().collect::<String>())));
                }
            }
            Tokenizer::Words | Tokenizer::CodeWords => {
                if !word.chars().any(char::is_alphanumeric) {
                    continue;
                }
                let is_last = number + 1 == words.len();
                terms.push(format!("{}{}", quoted(word), if is_last { "*" } else { "" }));
            }
        }
    }
    (!terms.is_empty()).then(|| terms.join(" OR "))
}
