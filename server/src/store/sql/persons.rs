//! People by SQL.

use async_trait::async_trait;
use serde_json::json;
use time::OffsetDateTime;

use super::audit;
use super::convert::{refuse_nul, unreadable};
use super::engine::{Cells, Engine, values};
use super::session::{SqlStore, Tx};
use crate::store::{
    By, FirstAdmin, NewAudit, NewPerson, Person, PersonChange, PersonStore, Role, Standing, StoreError,
    fold_login,
};

/// Columns of a person, in the order of [`person_from`].
macro_rules! person_columns {
    () => {
        "p.id, p.login, p.name, p.role, p.operator, p.password_hash, p.issuer, p.subject, p.created_at, p.disabled_at"
    };
}
pub(super) use person_columns;

pub(super) const PERSON_COLUMNS: usize = 10;

#[async_trait]
impl<DB: Engine> PersonStore for SqlStore<DB> {
    async fn create_person(&self, person: NewPerson, by: &By) -> Result<bool, StoreError> {
        let mut tx = self.begin_write().await?;
        wait_for_others(&mut tx).await?;
        if is_taken(&mut tx, &person).await? {
            tx.end().await?;
            return Ok(false);
        }
        insert(&mut tx, &person, by).await?;
        tx.commit().await?;
        Ok(true)
    }

    async fn create_first_admin(
        &self,
        key_sha256: &str,
        person: NewPerson,
        by: &By,
    ) -> Result<FirstAdmin, StoreError> {
        let mut tx = self.begin_write().await?;
        wait_for_others(&mut tx).await?;
        if any_person(&mut tx).await? {
            tx.end().await?;
            return Ok(FirstAdmin::Late);
        }
        let sql = "SELECT 1 FROM first_admin_key WHERE key_sha256 = $1 AND ends_at > $2";
        if tx
            .first(sql, values![key_sha256, person.created_at])
            .await?
            .is_none()
        {
            tx.end().await?;
            return Ok(FirstAdmin::NoKey);
        }
        tx.run("DELETE FROM first_admin_key", &[]).await?;
        insert(&mut tx, &person, by).await?;
        tx.commit().await?;
        Ok(FirstAdmin::Made)
    }

    async fn offer_first_admin(
        &self,
        key_sha256: &str,
        ends_at: OffsetDateTime,
        now: OffsetDateTime,
    ) -> Result<bool, StoreError> {
        let any = "SELECT 1 FROM person LIMIT 1";
        if self.read_once().await?.first(any, &[]).await?.is_some() {
            return Ok(false);
        }
        let mut tx = self.begin_write().await?;
        tx.run("DELETE FROM first_admin_key WHERE ends_at <= $1", values![now])
            .await?;
        let sql = "INSERT INTO first_admin_key (key_sha256, ends_at) VALUES ($1, $2)";
        tx.run(sql, values![key_sha256, ends_at]).await?;
        tx.commit().await?;
        Ok(true)
    }

    async fn is_first_admin_key(&self, key_sha256: &str, now: OffsetDateTime) -> Result<bool, StoreError> {
        let sql = "SELECT 1 FROM first_admin_key WHERE key_sha256 = $1 AND ends_at > $2 \
            AND NOT EXISTS (SELECT 1 FROM person)";
        let mut session = self.read_once().await?;
        let found = session.first(sql, values![key_sha256, now]).await?;
        Ok(found.is_some())
    }

    async fn person(&self, id: &str) -> Result<Option<Person>, StoreError> {
        let sql = concat!("SELECT ", person_columns!(), " FROM person p WHERE p.id = $1");
        let row = self.read_once().await?.first(sql, values![id]).await?;
        row.as_ref().map(|row| person_from(row, 0)).transpose()
    }

    async fn person_by_login(&self, login: &str) -> Result<Option<Person>, StoreError> {
        if login.contains('\0') {
            return Ok(None);
        }
        let sql = concat!(
            "SELECT ",
            person_columns!(),
            " FROM person p WHERE p.login_folded = $1"
        );
        let mut session = self.read_once().await?;
        let row = session.first(sql, values![&fold_login(login)]).await?;
        row.as_ref().map(|row| person_from(row, 0)).transpose()
    }

    async fn person_by_subject(&self, issuer: &str, subject: &str) -> Result<Option<Person>, StoreError> {
        let sql = concat!(
            "SELECT ",
            person_columns!(),
            " FROM person p WHERE p.issuer = $1 AND p.subject = $2"
        );
        let mut session = self.read_once().await?;
        let row = session.first(sql, values![issuer, subject]).await?;
        row.as_ref().map(|row| person_from(row, 0)).transpose()
    }

    async fn persons(&self) -> Result<Vec<Person>, StoreError> {
        let sql = concat!(
            "SELECT ",
            person_columns!(),
            " FROM person p ORDER BY p.login_folded"
        );
        let rows = self.read_once().await?.all(sql, &[]).await?;
        rows.iter().map(|row| person_from(row, 0)).collect()
    }

    async fn set_role(
        &self,
        id: &str,
        standing: Standing,
        by: &By,
        at: OffsetDateTime,
    ) -> Result<PersonChange, StoreError> {
        let mut tx = self.begin_write().await?;
        let Some(person) = locked(&mut tx, id).await? else {
            tx.end().await?;
            return Ok(PersonChange::NoPerson);
        };
        if person.standing == standing {
            tx.end().await?;
            return Ok(PersonChange::Unchanged);
        }
        if standing.role != Role::Admin && is_last_admin(&mut tx, &person).await? {
            tx.end().await?;
            return Ok(PersonChange::LastAdmin);
        }
        let sql = "UPDATE person SET role = $2, operator = $3 WHERE id = $1";
        tx.run(sql, values![id, standing.role.as_str(), standing.operator])
            .await?;
        let detail = json!({
            "role": { "from": person.standing.role.as_str(), "to": standing.role.as_str() },
            "operator": { "from": person.standing.operator, "to": standing.operator },
        });
        let entry = NewAudit::new("person.role", person.login, by, at).detail(detail);
        end_sessions_and_commit(tx, id, &entry).await
    }

    async fn set_disabled(
        &self,
        id: &str,
        disabled: bool,
        by: &By,
        at: OffsetDateTime,
    ) -> Result<PersonChange, StoreError> {
        let mut tx = self.begin_write().await?;
        let Some(person) = locked(&mut tx, id).await? else {
            tx.end().await?;
            return Ok(PersonChange::NoPerson);
        };
        if person.disabled_at.is_some() == disabled {
            tx.end().await?;
            return Ok(PersonChange::Unchanged);
        }
        if disabled && is_last_admin(&mut tx, &person).await? {
            tx.end().await?;
            return Ok(PersonChange::LastAdmin);
        }
        let sql = "UPDATE person SET disabled_at = $2 WHERE id = $1";
        tx.run(sql, values![id, disabled.then_some(at)]).await?;
        let action = if disabled {
            "person.disable"
        } else {
            "person.enable"
        };
        let entry = NewAudit::new(action, person.login, by, at);
        end_sessions_and_commit(tx, id, &entry).await
    }

    async fn set_password(
        &self,
        id: &str,
        hash: &str,
        by: &By,
        at: OffsetDateTime,
    ) -> Result<PersonChange, StoreError> {
        let mut tx = self.begin_write().await?;
        let Some(person) = locked(&mut tx, id).await? else {
            tx.end().await?;
            return Ok(PersonChange::NoPerson);
        };
        let sql = "UPDATE person SET password_hash = $2 WHERE id = $1";
        tx.run(sql, values![id, hash]).await?;
        let entry = NewAudit::new("person.password", person.login, by, at);
        end_sessions_and_commit(tx, id, &entry).await
    }
}

/// Changes of people wait for each other: what one of them sees of the others stays so until it ends.
async fn wait_for_others<DB: Engine>(tx: &mut Tx<DB>) -> Result<(), StoreError> {
    let sql = "UPDATE counter SET value = value + 1 WHERE name = 'person'";
    tx.run(sql, &[]).await?;
    Ok(())
}

async fn locked<DB: Engine>(tx: &mut Tx<DB>, id: &str) -> Result<Option<Person>, StoreError> {
    wait_for_others(tx).await?;
    let sql = concat!("SELECT ", person_columns!(), " FROM person p WHERE p.id = $1");
    let row = tx.first(sql, values![id]).await?;
    row.as_ref().map(|row| person_from(row, 0)).transpose()
}

async fn any_person<DB: Engine>(tx: &mut Tx<DB>) -> Result<bool, StoreError> {
    Ok(tx.first("SELECT 1 FROM person LIMIT 1", &[]).await?.is_some())
}

async fn is_last_admin<DB: Engine>(tx: &mut Tx<DB>, person: &Person) -> Result<bool, StoreError> {
    if person.standing.role != Role::Admin || person.disabled_at.is_some() {
        return Ok(false);
    }
    let sql = "SELECT 1 FROM person WHERE role = 'admin' AND disabled_at IS NULL AND id <> $1 LIMIT 1";
    Ok(tx.first(sql, values![&person.id]).await?.is_none())
}

async fn is_taken<DB: Engine>(tx: &mut Tx<DB>, person: &NewPerson) -> Result<bool, StoreError> {
    let (issuer, subject) = person.subject.clone().unzip();
    let sql = "SELECT 1 FROM person WHERE login_folded = $1 OR (issuer = $2 AND subject = $3) LIMIT 1";
    let login = fold_login(&person.login);
    let values = values![&login, issuer.as_deref(), subject.as_deref()];
    Ok(tx.first(sql, values).await?.is_some())
}

async fn insert<DB: Engine>(tx: &mut Tx<DB>, person: &NewPerson, by: &By) -> Result<(), StoreError> {
    refuse_nul("the login", &person.login)?;
    refuse_nul("the name", &person.name)?;
    let (issuer, subject) = person.subject.clone().unzip();
    let login_folded = fold_login(&person.login);
    let sql = "INSERT INTO person (id, login, login_folded, name, role, operator, password_hash, issuer, subject, \
        created_at) VALUES ($1, $2, $3, $4, $5, $6, $7, $8, $9, $10)";
    let row = values![
        &person.id,
        &person.login,
        &login_folded,
        &person.name,
        person.standing.role.as_str(),
        person.standing.operator,
        person.password_hash.as_deref(),
        issuer.as_deref(),
        subject.as_deref(),
        person.created_at,
    ];
    tx.run(sql, row).await?;
    let detail = json!({ "role": person.standing.role.as_str(), "operator": person.standing.operator });
    let entry = NewAudit::new("person.create", &person.login, by, person.created_at).detail(detail);
    audit::add(tx, &entry).await
}

async fn end_sessions_and_commit<DB: Engine>(
    mut tx: Tx<DB>,
    id: &str,
    entry: &NewAudit,
) -> Result<PersonChange, StoreError> {
    tx.run("DELETE FROM session WHERE person_id = $1", values![id])
        .await?;
    audit::add(&mut tx, entry).await?;
    tx.commit().await?;
    Ok(PersonChange::Changed)
}

/// Reads a person from the columns of [`person_columns`], which begin at `first`.
pub(super) fn person_from(row: &impl Cells, first: usize) -> Result<Person, StoreError> {
    Ok(Person {
        id: row.text(first)?,
        login: row.text(first + 1)?,
        name: row.text(first + 2)?,
        standing: standing_from(row, first + 3)?,
        password_hash: row.maybe_text(first + 5)?,
        subject: row.maybe_text(first + 6)?.zip(row.maybe_text(first + 7)?),
        created_at: row.time(first + 8)?,
        disabled_at: row.maybe_time(first + 9)?,
    })
}

pub(super) fn standing_from(row: &impl Cells, first: usize) -> Result<Standing, StoreError> {
    let role = row.text(first)?;
    Ok(Standing {
        role: Role::from_word(&role).ok_or_else(|| unreadable("role", &role))?,
        operator: row.flag(first + 1)?,
    })
}
