//! API tokens by SQL.

use async_trait::async_trait;
use kb_core::ids::NodeId;
use serde_json::json;
use time::{Duration, OffsetDateTime};

use super::convert::{id_from, unreadable};
use super::engine::{Cells, Engine, Value, values};
use super::persons::standing_from;
use super::session::{SqlStore, Tx};
use super::{audit, batch, node_events};
use crate::store::{
    Bounds, By, Enrolled, Former, Labels, NewAudit, NewToken, Owner, Scope, StoreError, StoredToken,
    TokenStore,
};

/// For so long the same machine may enrol again with the same join token at no cost.
const REPEAT_WITHIN: Duration = Duration::minutes(10);

/// Columns of a token and of its owner, in the order of [`token_from`], with the tables that they are of.
macro_rules! token_columns {
    () => {
        "t.id, t.secret_sha256, t.name, t.scopes, t.created_at, t.expires_at, t.revoked_at, t.node_id, \
         t.machine_sha256, t.uses_left, t.enrolled_by, t.labels, t.person_id, p.role, p.operator, p.disabled_at, t.adopts \
         FROM token t LEFT JOIN person p ON p.id = t.person_id"
    };
}

#[async_trait]
impl<DB: Engine> TokenStore for SqlStore<DB> {
    async fn create_tokens(&self, tokens: Vec<NewToken>, by: &By) -> Result<(), StoreError> {
        let mut tx = self.begin_write().await?;
        for token in &tokens {
            insert(&mut tx, token).await?;
        }
        for token in &tokens {
            audit::add(&mut tx, &created(token, "token.create", by)).await?;
        }
        tx.commit().await
    }

    async fn enrol_node(&self, with: &str, token: NewToken, by: &By) -> Result<Enrolled, StoreError> {
        let (Some(node), Some(machine)) = (&token.bounds.node, &token.bounds.machine_sha256) else {
            return Err(unreadable("credential of a node", &token.id));
        };
        let mut tx = self.begin_write().await?;
        // First, and written as it is, so that two enrolments with one token wait for each other.
        let sql = "UPDATE token SET uses_left = uses_left WHERE id = $1";
        tx.run(sql, values![with]).await?;
        let join = tx
            .first(
                "SELECT uses_left, revoked_at, expires_at, labels, adopts FROM token WHERE id = $1",
                values![with],
            )
            .await?;
        // It was good when the request came, which may be long ago where the body dripped.
        let is_good = match &join {
            Some(join) => {
                let expires_at = join.maybe_time(2)?;
                join.maybe_time(1)?.is_none() && expires_at.is_none_or(|at| at > token.created_at)
            }
            None => false,
        };
        let Some(join) = join.filter(|_| is_good) else {
            tx.end().await?;
            return Ok(Enrolled::Over);
        };
        // The last one of the node, whether or not it still works; one that does is always the last.
        let sql = "SELECT id, machine_sha256, expires_at, enrolled_by, created_at, revoked_at FROM token \
            WHERE node_id = $1 ORDER BY CASE WHEN revoked_at IS NULL THEN 0 ELSE 1 END, created_at DESC, id DESC LIMIT 1";
        let last = tx.first(sql, values![node]).await?;
        let mut enrolled = Enrolled::New;
        let mut is_repeat = false;
        let mut has_worked = false;
        if let Some(last) = last {
            let is_revoked = last.maybe_time(5)?.is_some();
            let is_over = is_revoked || last.maybe_time(2)?.is_some_and(|at| at <= token.created_at);
            let before = last.maybe_text(1)?;
            let is_same = before.as_ref() == Some(machine);
            has_worked = !is_over;
            if !is_over && !is_same && !may_adopt(&join, (4, 0, 2))? {
                tx.end().await?;
                return Ok(Enrolled::Taken);
            }
            if is_same {
                enrolled = Enrolled::Again;
                let is_recent = token.created_at - last.time(4)? <= REPEAT_WITHIN;
                is_repeat = !is_revoked && is_recent && last.maybe_text(3)?.as_deref() == Some(with);
            } else if !is_over || before.is_some() {
                enrolled = Enrolled::Adopted;
            }
            let sql = "UPDATE token SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
            tx.run(sql, values![&last.text(0)?, token.created_at]).await?;
        }
        // An answer that was lost must not cost another enrolment. Later, or with another join token, it does: the name of
        // a machine is no secret, and must not be enough to take its credential over.
        if !is_repeat {
            if join.maybe_integer(0)?.is_some_and(|left| left <= 0) {
                tx.end().await?;
                return Ok(Enrolled::UsedUp);
            }
            let sql = "UPDATE token SET uses_left = uses_left - 1 WHERE id = $1";
            tx.run(sql, values![with]).await?;
        }
        match insert(&mut tx, &token).await {
            // With another join token the same id was enrolled meanwhile.
            Err(StoreError::Database(sqlx::Error::Database(error))) if error.is_unique_violation() => {
                return Ok(Enrolled::Taken);
            }
            inserted => inserted?,
        }
        set_labels(&mut tx, node, &labels_from(join.maybe_text(3)?)?).await?;
        let source = (token.id.as_str(), token.created_at);
        if enrolled == Enrolled::New {
            node_events::note_machine(&mut tx, node, machine, source).await?;
            if tx
                .first("SELECT id FROM node WHERE id = $1", values![node])
                .await?
                .is_some()
            {
                enrolled = Enrolled::Known;
            }
        }
        let before = match enrolled {
            Enrolled::Known => Some(Former::NoCredential),
            Enrolled::Adopted => Some(Former::AnotherMachine),
            Enrolled::Again if has_worked && !is_repeat => Some(Former::SameMachine),
            _ => None,
        };
        let mut entry = created(&token, "token.enrol", by);
        if let Some(before) = before {
            node_events::note_enrolment(&mut tx, node, (before, with), source).await?;
            let mut detail = detail(&token);
            detail.insert("before".to_owned(), json!(before));
            detail.insert("with".to_owned(), json!(with));
            entry = entry.detail(detail.into());
        }
        audit::add(&mut tx, &entry).await?;
        tx.commit().await?;
        Ok(enrolled)
    }

    async fn token(&self, id: &str) -> Result<Option<StoredToken>, StoreError> {
        let sql = concat!("SELECT ", token_columns!(), " WHERE t.id = $1");
        let row = self.read_once().await?.first(sql, values![id]).await?;
        row.as_ref().map(token_from).transpose()
    }

    async fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        let sql = concat!("SELECT ", token_columns!(), " ORDER BY t.created_at, t.id");
        let rows = self.read_once().await?.all(sql, &[]).await?;
        rows.iter().map(token_from).collect()
    }

    async fn revoke_token(&self, id: &str, by: &By, at: OffsetDateTime) -> Result<bool, StoreError> {
        let mut tx = self.begin_write().await?;
        let name = tx
            .first("SELECT name FROM token WHERE id = $1", values![id])
            .await?;
        let Some(name) = name else {
            tx.end().await?;
            return Ok(false);
        };
        // The first revocation stays: it is when the token stopped to work.
        let sql = "UPDATE token SET revoked_at = $2 WHERE id = $1 AND revoked_at IS NULL";
        if tx.run(sql, values![id, at]).await? > 0 {
            let detail = json!({ "name": name.text(0)? });
            let entry = NewAudit::new("token.revoke", id, by, at).detail(detail);
            audit::add(&mut tx, &entry).await?;
        }
        tx.commit().await?;
        Ok(true)
    }

    async fn tokens_of(&self, person: &str) -> Result<Vec<StoredToken>, StoreError> {
        let sql = concat!(
            "SELECT ",
            token_columns!(),
            " WHERE t.person_id = $1 ORDER BY t.created_at, t.id"
        );
        let rows = self.read_once().await?.all(sql, values![person]).await?;
        rows.iter().map(token_from).collect()
    }
}

fn created(token: &NewToken, action: &'static str, by: &By) -> NewAudit {
    NewAudit::new(action, &token.id, by, token.created_at).detail(detail(token).into())
}

fn detail(token: &NewToken) -> serde_json::Map<String, serde_json::Value> {
    let scopes: Vec<&str> = token.scopes.iter().map(|scope| scope.as_str()).collect();
    let each = [("name", json!(token.name)), ("scopes", json!(scopes))];
    each.map(|(name, value)| (name.to_owned(), value))
        .into_iter()
        .collect()
}

async fn insert<DB: Engine>(tx: &mut Tx<DB>, token: &NewToken) -> Result<(), StoreError> {
    let words: Vec<&str> = token.scopes.iter().map(|scope| scope.as_str()).collect();
    let scopes = words.join(" ");
    let sql = "INSERT INTO token (id, secret_sha256, name, scopes, created_at, expires_at, node_id, machine_sha256, \
        uses_left, enrolled_by, labels, person_id, adopts) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11, $12, $13)";
    let labels = &token.bounds.labels;
    let labels = (!labels.is_empty()).then(|| serde_json::json!(labels).to_string());
    let row = values![
        &token.id,
        &token.secret_sha256,
        &token.name,
        &scopes,
        token.created_at,
        token.expires_at,
        token.bounds.node.as_ref().map(NodeId::as_str),
        token.bounds.machine_sha256.as_deref(),
        token.bounds.uses_left.map(i64::from),
        token.bounds.enrolled_by.as_deref(),
        labels.as_deref(),
        token.person.as_deref(),
        token.bounds.adopts,
    ];
    tx.run(sql, row).await?;
    Ok(())
}

/// Whether a join token may take ids over, by its columns of this right, of the uses that are left, and of its end. Those that were made
/// before such a token needed bounds lack one of them, and may not: whoever has one could write as any node, for ever.
fn may_adopt(row: &impl Cells, (adopts, uses, end): (usize, usize, usize)) -> Result<bool, StoreError> {
    Ok(row.flag(adopts)? && row.maybe_integer(uses)?.is_some() && row.maybe_time(end)?.is_some())
}

async fn set_labels<DB: Engine>(tx: &mut Tx<DB>, node: &NodeId, labels: &Labels) -> Result<(), StoreError> {
    tx.run("DELETE FROM node_label WHERE node_id = $1", values![node])
        .await?;
    let rows: Vec<[Value<'_>; 3]> = labels
        .iter()
        .map(|(name, value)| [Value::from(node), Value::from(name), Value::from(value)])
        .collect();
    batch::insert(tx, "node_label (node_id, name, value)", "", &rows).await
}

fn labels_from(text: Option<String>) -> Result<Labels, StoreError> {
    let labels = text.map(|text| serde_json::from_str(&text)).transpose();
    Ok(labels
        .map_err(|_| unreadable("labels of a token", "not an object of texts"))?
        .unwrap_or_default())
}

fn token_from(row: &impl Cells) -> Result<StoredToken, StoreError> {
    let owner = match row.maybe_text(13)? {
        Some(_) => Some(Owner {
            standing: standing_from(row, 13)?,
            disabled: row.maybe_time(15)?.is_some(),
        }),
        None => None,
    };
    // A scope that a newer program wrote grants nothing here.
    let scopes = row.text(3)?.split(' ').filter_map(Scope::from_word).collect();
    Ok(StoredToken {
        token: NewToken {
            id: row.text(0)?,
            secret_sha256: row.text(1)?,
            name: row.text(2)?,
            scopes,
            created_at: row.time(4)?,
            expires_at: row.maybe_time(5)?,
            bounds: Bounds {
                node: row.maybe_text(7)?.map(id_from).transpose()?,
                machine_sha256: row.maybe_text(8)?,
                enrolled_by: row.maybe_text(10)?,
                // A number that no program wrote grants nothing.
                uses_left: row.maybe_integer(9)?.map(|left| u32::try_from(left).unwrap_or(0)),
                labels: labels_from(row.maybe_text(11)?)?,
                adopts: may_adopt(row, (16, 9, 5))?,
            },
            person: row.maybe_text(12)?,
        },
        owner,
        revoked_at: row.maybe_time(6)?,
    })
}
