//! The authorizations that users give to OAuth clients, with their codes, refresh tokens and access tokens.

use crate::model::change::ChangeKind;
use crate::model::id::{TokenId, UserId};
use crate::model::oauth::Challenge;
use crate::model::oauth_grant::{AuthorizationCode, OauthGrant, RefreshToken, TokenOrigin};
use crate::model::scope::Scopes;
use crate::model::time::Time;
use crate::model::token::TokenHash;
use crate::store::changes::Owner;
use crate::store::error::StoreError;
use crate::store::model_rows::ModelRows;
use crate::store::tokens::invalidate_identities;
use crate::store::tx::{ReadTx, WriteTx};
use crate::store::value::{FromValue, Row, Value, args};

const COLUMNS: &str = "g.id, g.client, c.label, g.app_user, g.scopes, g.created,
    CASE WHEN g.revoked IS NULL THEN 0 ELSE 1 END,
    (SELECT max(t.expiry) FROM token t WHERE t.oauth_grant = g.id AND t.kind = 'oauth' AND t.revoked IS NULL),
    (SELECT max(r.expiry) FROM refresh_token r WHERE r.oauth_grant = g.id AND r.used IS NULL)";
const FROM: &str = "oauth_grant g JOIN oauth_client c ON c.id = g.client";

/// Every row, for `garth check`.
pub(in crate::store) const ROWS: ModelRows = ModelRows::new(FROM, COLUMNS, |row| read(row).map(drop));

pub fn insert(tx: &mut WriteTx, client: &str, user: UserId, scopes: &Scopes) -> Result<i64, StoreError> {
    let now = tx.now();
    let inserted = tx.one(
        "INSERT INTO oauth_grant (client, app_user, scopes, created) VALUES ($1, $2, $3, $4) RETURNING id",
        args![client, user, scopes.to_string(), now],
    );
    let id = inserted?.take()?;
    tx.changed(Owner::User(user), ChangeKind::OauthGrant, id)?;
    Ok(id)
}

pub fn find(tx: &mut ReadTx, id: i64) -> Result<Option<OauthGrant>, StoreError> {
    let sql = format!("SELECT {COLUMNS} FROM {FROM} WHERE g.id = $1");
    tx.find(&sql, args![id])?.as_mut().map(read).transpose()
}

/// The user's grants that can still be used, newest last.
pub fn live_of_user(tx: &mut ReadTx, user: UserId) -> Result<Vec<OauthGrant>, StoreError> {
    let (now, mut grants) = (tx.now(), of_user(tx, user)?);
    grants.retain(|grant| grant.is_live(now));
    Ok(grants)
}

/// The user's grants that are not revoked, newest last.
fn of_user(tx: &mut ReadTx, user: UserId) -> Result<Vec<OauthGrant>, StoreError> {
    let sql =
        format!("SELECT {COLUMNS} FROM {FROM} WHERE g.app_user = $1 AND g.revoked IS NULL ORDER BY g.id");
    tx.read(&sql, args![user], read)
}

/// The user's grants for one client that can still be used, newest last.
pub fn live_for_client(tx: &mut ReadTx, user: UserId, client: &str) -> Result<Vec<OauthGrant>, StoreError> {
    let (now, mut grants) = (tx.now(), for_client(tx, user, client)?);
    grants.retain(|grant| grant.is_live(now));
    Ok(grants)
}

/// The user's grants for one client that are not revoked, newest last.
fn for_client(tx: &mut ReadTx, user: UserId, client: &str) -> Result<Vec<OauthGrant>, StoreError> {
    let sql = format!(
        "SELECT {COLUMNS} FROM {FROM} WHERE g.app_user = $1 AND g.client = $2 AND g.revoked IS NULL ORDER BY g.id"
    );
    tx.read(&sql, args![user, client], read)
}

/// Deletes the user's earlier grants for the same client that have no usable tokens or codes. Moves the personal
/// tokens of the deleted grants to the new grant. A grant with personal tokens remains if the new grant does not
/// include its scopes.
pub fn replace_idle(
    tx: &mut WriteTx,
    new: i64,
    client: &str,
    user: UserId,
    scopes: &Scopes,
) -> Result<(), StoreError> {
    let now = tx.now();
    let grants = for_client(tx, user, client)?;
    for grant in grants
        .iter()
        .filter(|grant| grant.id != new && !grant.is_live(now))
    {
        let removed = tx.execute(
            "DELETE FROM oauth_grant WHERE id = $1 AND NOT EXISTS
             (SELECT 1 FROM oauth_code c WHERE c.oauth_grant = $1 AND c.used IS NULL AND c.expiry > $2)
             AND ($3 = 1 OR NOT EXISTS
             (SELECT 1 FROM token t WHERE t.oauth_grant = $1 AND t.kind = 'personal' AND t.revoked IS NULL))",
            args![grant.id, now, i64::from(grant.scopes.are_within(scopes))],
        )?;
        if removed > 0 {
            let sql = "UPDATE token SET oauth_grant = $2 WHERE oauth_grant = $1 AND kind = 'personal'";
            tx.execute(sql, args![grant.id, new])?;
            tx.changed(Owner::User(user), ChangeKind::OauthGrant, grant.id)?;
        }
    }
    Ok(())
}

/// Deletes expired refresh tokens. Deletes access tokens and codes that expired more than a day ago. Deletes
/// grants that were revoked more than a day ago and have no codes or refresh tokens.
pub fn sweep(tx: &mut WriteTx) -> Result<(), StoreError> {
    let now = tx.now();
    let yesterday = now.plus_seconds(-24 * 3600);
    tx.execute("DELETE FROM oauth_code WHERE expiry <= $1", args![yesterday])?;
    tx.execute("DELETE FROM refresh_token WHERE expiry <= $1", args![now])?;
    tx.execute(
        "DELETE FROM token WHERE kind = 'oauth' AND expiry <= $1",
        args![yesterday],
    )?;
    tx.execute(
        "DELETE FROM oauth_grant WHERE revoked <= $1
         AND NOT EXISTS (SELECT 1 FROM oauth_code c WHERE c.oauth_grant = oauth_grant.id)
         AND NOT EXISTS (SELECT 1 FROM refresh_token r WHERE r.oauth_grant = oauth_grant.id)",
        args![yesterday],
    )?;
    Ok(())
}

/// Revokes a grant and all its tokens, including the personal tokens that its user created through the client.
pub fn revoke_with_personal_tokens(tx: &mut WriteTx, id: i64) -> Result<(), StoreError> {
    let now = tx.now();
    let sql = "UPDATE oauth_grant SET revoked = $2 WHERE id = $1 AND revoked IS NULL";
    tx.execute(sql, args![id, now])?;
    let sql = "UPDATE token SET revoked = $2 WHERE oauth_grant = $1 AND revoked IS NULL";
    tx.execute(sql, args![id, now])?;
    tx.changed(Owner::OauthGrant(id), ChangeKind::OauthGrant, id)?;
    invalidate_identities(tx, Owner::OauthGrant(id))
}

/// Revokes a grant and its access tokens, but not the personal tokens that its user created through the client.
pub fn revoke(tx: &mut WriteTx, id: i64) -> Result<(), StoreError> {
    let now = tx.now();
    let sql = "UPDATE oauth_grant SET revoked = $2 WHERE id = $1 AND revoked IS NULL";
    tx.execute(sql, args![id, now])?;
    revoke_access_tokens(tx, id)
}

/// Revokes all grants of a user and their access tokens, but no personal tokens.
pub fn revoke_of_user(tx: &mut WriteTx, user: UserId) -> Result<(), StoreError> {
    let now = tx.now();
    tx.execute(
        "UPDATE token SET revoked = $2 WHERE app_user = $1 AND kind = 'oauth' AND revoked IS NULL",
        args![user, now],
    )?;
    let sql = "UPDATE oauth_grant SET revoked = $2 WHERE app_user = $1 AND revoked IS NULL RETURNING id";
    for mut row in tx.all(sql, args![user, now])? {
        tx.changed(Owner::User(user), ChangeKind::OauthGrant, row.take()?)?;
    }
    invalidate_identities(tx, Owner::User(user))
}

/// Revokes all grants of a client and all their tokens, including personal tokens that users created
/// through the client.
pub fn revoke_of_client(tx: &mut WriteTx, client: &str) -> Result<(), StoreError> {
    let now = tx.now();
    let sql = "SELECT g.id FROM oauth_grant g WHERE g.client = $1 AND (g.revoked IS NULL
        OR EXISTS (SELECT 1 FROM token t WHERE t.oauth_grant = g.id AND t.revoked IS NULL)) ORDER BY g.id";
    for grant in tx.read(sql, args![client], |row| row.take())? {
        tx.changed(Owner::OauthGrant(grant), ChangeKind::OauthGrant, grant)?;
        invalidate_identities(tx, Owner::OauthGrant(grant))?;
    }
    tx.execute(
        "UPDATE token SET revoked = $2 WHERE revoked IS NULL
         AND oauth_grant IN (SELECT id FROM oauth_grant WHERE client = $1)",
        args![client, now],
    )?;
    let sql = "UPDATE oauth_grant SET revoked = $2 WHERE client = $1 AND revoked IS NULL";
    tx.execute(sql, args![client, now])?;
    Ok(())
}

/// Links a token to its grant.
pub fn link_token(tx: &mut WriteTx, id: i64, token: TokenHash) -> Result<(), StoreError> {
    let sql = "UPDATE token SET oauth_grant = $1 WHERE hash = $2";
    tx.execute(sql, args![id, token.hex()])?;
    tx.changed(Owner::OauthGrant(id), ChangeKind::OauthGrant, id)
}

/// The grant of an access token.
pub fn of_token(tx: &mut ReadTx, token: TokenHash) -> Result<Option<i64>, StoreError> {
    let sql = "SELECT oauth_grant FROM token WHERE hash = $1 AND kind = 'oauth'";
    let row = tx.find(sql, args![token.hex()])?;
    Ok(row
        .map(|mut row| row.take::<Option<i64>>())
        .transpose()?
        .flatten())
}

/// Whether a token is an OAuth access token, and the grant that the token belongs to.
pub fn origin(tx: &mut ReadTx, token: TokenId) -> Result<Option<TokenOrigin>, StoreError> {
    let sql = "SELECT CASE WHEN kind = 'oauth' THEN 1 ELSE 0 END, oauth_grant FROM token WHERE id = $1";
    let read = |mut row: Row| {
        Ok(TokenOrigin {
            is_access: row.take()?,
            grant: row.take()?,
        })
    };
    tx.find(sql, args![token])?.map(read).transpose()
}

pub fn insert_code(
    tx: &mut WriteTx,
    hash: TokenHash,
    grant: i64,
    redirect_uri: &str,
    challenge: Option<&str>,
    expiry: Time,
) -> Result<(), StoreError> {
    tx.execute(
        "INSERT INTO oauth_code (hash, oauth_grant, redirect_uri, challenge, expiry) VALUES ($1, $2, $3, $4, $5)",
        args![hash.hex(), grant, redirect_uri, challenge, expiry],
    )?;
    Ok(())
}

pub fn find_code(tx: &mut ReadTx, hash: TokenHash) -> Result<Option<AuthorizationCode>, StoreError> {
    let row = tx.find(
        "SELECT oauth_grant, redirect_uri, challenge, expiry, CASE WHEN used IS NULL THEN 0 ELSE 1 END
         FROM oauth_code WHERE hash = $1",
        args![hash.hex()],
    )?;
    let read = |mut row: Row| {
        Ok(AuthorizationCode {
            grant: row.take()?,
            redirect_uri: row.take()?,
            challenge: row.take()?,
            expiry: row.take()?,
            used: row.take()?,
        })
    };
    row.map(read).transpose()
}

/// Marks a code as used.
pub fn use_code(tx: &mut WriteTx, hash: TokenHash) -> Result<(), StoreError> {
    let now = tx.now();
    let sql = "UPDATE oauth_code SET used = $2 WHERE hash = $1";
    tx.execute(sql, args![hash.hex(), now])?;
    Ok(())
}

pub fn insert_refresh(tx: &mut WriteTx, hash: TokenHash, grant: i64, expiry: Time) -> Result<(), StoreError> {
    let now = tx.now();
    tx.execute(
        "INSERT INTO refresh_token (hash, oauth_grant, created, expiry) VALUES ($1, $2, $3, $4)",
        args![hash.hex(), grant, now, expiry],
    )?;
    Ok(())
}

pub fn find_refresh(tx: &mut ReadTx, hash: TokenHash) -> Result<Option<RefreshToken>, StoreError> {
    let row = tx.find(
        "SELECT oauth_grant, expiry, CASE WHEN used IS NULL THEN 0 ELSE 1 END FROM refresh_token WHERE hash = $1",
        args![hash.hex()],
    )?;
    let read = |mut row: Row| {
        Ok(RefreshToken {
            grant: row.take()?,
            expiry: row.take()?,
            used: row.take()?,
        })
    };
    row.map(read).transpose()
}

/// Marks a refresh token as used.
pub fn use_refresh(tx: &mut WriteTx, hash: TokenHash) -> Result<(), StoreError> {
    let now = tx.now();
    let sql = "UPDATE refresh_token SET used = $2 WHERE hash = $1";
    tx.execute(sql, args![hash.hex(), now])?;
    Ok(())
}

/// Revokes the access tokens of a grant.
pub fn revoke_access_tokens(tx: &mut WriteTx, grant: i64) -> Result<(), StoreError> {
    let now = tx.now();
    let sql = "UPDATE token SET revoked = $2 WHERE oauth_grant = $1 AND kind = 'oauth' AND revoked IS NULL";
    tx.execute(sql, args![grant, now])?;
    tx.changed(Owner::OauthGrant(grant), ChangeKind::OauthGrant, grant)?;
    invalidate_identities(tx, Owner::OauthGrant(grant))
}

fn read(row: &mut Row) -> Result<OauthGrant, StoreError> {
    Ok(OauthGrant {
        id: row.take()?,
        client: row.take()?,
        client_label: row.take()?,
        user: row.take()?,
        scopes: row.take()?,
        created: row.take()?,
        revoked: row.take()?,
        expiry: row.take::<Option<Time>>()?.max(row.take()?),
    })
}

impl FromValue for Challenge {
    fn from_value(value: Value) -> Option<Self> {
        Challenge::parse(value.as_text()?)
    }
}
