//! Sessions by SQL.

use async_trait::async_trait;
use serde_json::json;
use time::OffsetDateTime;

use super::audit;
use super::convert::refuse_nul;
use super::engine::{Cells, Engine, values};
use super::persons::{PERSON_COLUMNS, person_columns, person_from, standing_from};
use super::session::{SqlStore, Tx};
use crate::store::{By, LiveSession, NewAudit, NewSession, SessionStore, StoreError};

macro_rules! session_columns {
    () => {
        "s.id, s.person_id, s.csrf, s.role, s.operator, s.made_at, s.seen_at, s.idle_ends_at, s.ends_at, s.address, \
         s.user_agent"
    };
}

#[async_trait]
impl<DB: Engine> SessionStore for SqlStore<DB> {
    async fn start_session(
        &self,
        session: NewSession,
        instead_of: Option<&str>,
        (by, action): (&By, &'static str),
    ) -> Result<(), StoreError> {
        let agent = session.user_agent.as_deref();
        refuse_nul("the name of the browser", agent.unwrap_or_default())?;
        let mut tx = self.begin_write().await?;
        let over =
            "DELETE FROM session WHERE id = $1 OR (person_id = $2 AND (ends_at <= $3 OR idle_ends_at <= $3))";
        tx.run(
            over,
            values![instead_of.unwrap_or_default(), &session.person, session.made_at],
        )
        .await?;
        let sql = "INSERT INTO session (id, person_id, csrf, role, operator, made_at, seen_at, idle_ends_at, ends_at, \
            address, user_agent) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10, $11)";
        let row = values![
            &session.id,
            &session.person,
            &session.csrf,
            session.standing.role.as_str(),
            session.standing.operator,
            session.made_at,
            session.seen_at,
            session.idle_ends_at,
            session.ends_at,
            session.address.as_deref(),
            agent,
        ];
        tx.run(sql, row).await?;
        let subject = login_of(&mut tx, &session.person).await?;
        let entry = NewAudit::new(action, subject, by, session.made_at);
        audit::add(&mut tx, &entry).await?;
        tx.commit().await
    }

    async fn session(&self, id: &str, now: OffsetDateTime) -> Result<Option<LiveSession>, StoreError> {
        let sql = concat!(
            "SELECT ",
            person_columns!(),
            ", ",
            session_columns!(),
            " FROM session s JOIN person p ON p.id = s.person_id WHERE s.id = $1 AND s.ends_at > $2 \
             AND s.idle_ends_at > $2 AND p.disabled_at IS NULL AND p.role = s.role AND p.operator = s.operator"
        );
        let row = self.read_once().await?.first(sql, values![id, now]).await?;
        let Some(row) = row else { return Ok(None) };
        Ok(Some(LiveSession {
            person: person_from(&row, 0)?,
            session: session_from(&row, PERSON_COLUMNS)?,
        }))
    }

    async fn touch_session(
        &self,
        id: &str,
        now: OffsetDateTime,
        idle_ends_at: OffsetDateTime,
    ) -> Result<(), StoreError> {
        let mut tx = self.begin_write().await?;
        let sql = "UPDATE session SET seen_at = $2, idle_ends_at = $3 WHERE id = $1 AND seen_at < $2";
        tx.run(sql, values![id, now, idle_ends_at]).await?;
        tx.commit().await
    }

    async fn sessions_of(&self, person: &str, now: OffsetDateTime) -> Result<Vec<NewSession>, StoreError> {
        let sql = concat!(
            "SELECT ",
            session_columns!(),
            " FROM session s WHERE s.person_id = $1 AND s.ends_at > $2 AND s.idle_ends_at > $2 \
             ORDER BY s.made_at DESC, s.id"
        );
        let rows = self.read_once().await?.all(sql, values![person, now]).await?;
        rows.iter().map(|row| session_from(row, 0)).collect()
    }

    async fn end_session(
        &self,
        person: &str,
        id: &str,
        (by, action): (&By, &'static str),
        at: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let mut tx = self.begin_write().await?;
        let sql = "DELETE FROM session WHERE id = $1 AND person_id = $2";
        if tx.run(sql, values![id, person]).await? == 0 {
            tx.end().await?;
            return Ok(false);
        }
        let subject = login_of(&mut tx, person).await?;
        audit::add(&mut tx, &NewAudit::new(action, subject, by, at)).await?;
        tx.commit().await?;
        Ok(true)
    }

    async fn end_sessions(&self, person: &str, by: &By, at: OffsetDateTime) -> Result<u64, StoreError> {
        let mut tx = self.begin_write().await?;
        let ended = tx
            .run("DELETE FROM session WHERE person_id = $1", values![person])
            .await?;
        if ended == 0 {
            tx.end().await?;
            return Ok(0);
        }
        let subject = login_of(&mut tx, person).await?;
        let entry = NewAudit::new("session.end", subject, by, at).detail(json!({ "sessions": ended }));
        audit::add(&mut tx, &entry).await?;
        tx.commit().await?;
        Ok(ended)
    }
}

async fn login_of<DB: Engine>(tx: &mut Tx<DB>, person: &str) -> Result<String, StoreError> {
    let row = tx
        .one("SELECT login FROM person WHERE id = $1", values![person])
        .await?;
    row.text(0)
}

fn session_from(row: &impl Cells, first: usize) -> Result<NewSession, StoreError> {
    Ok(NewSession {
        id: row.text(first)?,
        person: row.text(first + 1)?,
        csrf: row.text(first + 2)?,
        standing: standing_from(row, first + 3)?,
        made_at: row.time(first + 5)?,
        seen_at: row.time(first + 6)?,
        idle_ends_at: row.time(first + 7)?,
        ends_at: row.time(first + 8)?,
        address: row.maybe_text(first + 9)?,
        user_agent: row.maybe_text(first + 10)?,
    })
}
