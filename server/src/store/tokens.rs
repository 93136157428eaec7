//! API tokens.

use time::OffsetDateTime;

use super::engine::{Cells, Engine, values};
use super::session::SqlStore;
use super::{NewToken, Scope, StoreError, StoredToken};

impl<DB: Engine> SqlStore<DB> {
    pub(super) async fn create_token(&self, token: NewToken) -> Result<(), StoreError> {
        let words: Vec<&str> = token.scopes.iter().map(|scope| scope.as_str()).collect();
        let scopes = words.join(" ");
        let sql = "INSERT INTO token (id, secret_sha256, name, scopes, created_at, expires_at) \
            VALUES ($1, $2, $3, $4, $5, $6)";
        let row = values![
            &token.id,
            &token.secret_sha256,
            &token.name,
            &scopes,
            token.created_at,
            token.expires_at,
        ];
        let mut tx = self.begin_write().await?;
        tx.run(sql, row).await?;
        tx.commit().await
    }

    pub(super) async fn token(&self, id: &str) -> Result<Option<StoredToken>, StoreError> {
        let sql = "SELECT id, secret_sha256, name, scopes, created_at, expires_at, revoked_at \
            FROM token WHERE id = $1";
        let row = self.read_once().await?.first(sql, values![id]).await?;
        row.as_ref().map(token_from).transpose()
    }

    pub(super) async fn tokens(&self) -> Result<Vec<StoredToken>, StoreError> {
        let sql = "SELECT id, secret_sha256, name, scopes, created_at, expires_at, revoked_at \
            FROM token ORDER BY created_at, id";
        let rows = self.read_once().await?.all(sql, &[]).await?;
        rows.iter().map(token_from).collect()
    }

    pub(super) async fn revoke_token(&self, id: &str, at: OffsetDateTime) -> Result<bool, StoreError> {
        // The first revocation stays: it is when the token stopped to work.
        let sql = "UPDATE token SET revoked_at = COALESCE(revoked_at, $2) WHERE id = $1";
        let mut tx = self.begin_write().await?;
        let touched = tx.run(sql, values![id, at]).await?;
        tx.commit().await?;
        Ok(touched > 0)
    }
}

fn token_from(row: &impl Cells) -> Result<StoredToken, StoreError> {
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
        },
        revoked_at: row.maybe_time(6)?,
    })
}
