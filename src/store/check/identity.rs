//! Invariants of users, grants, tokens and OAuth.

use super::invariant::{Findings, Invariant};
use crate::store::error::StoreError;
use crate::store::tx::ReadTx;
use crate::store::value::args;

pub const INVARIANTS: &[Invariant] = &[
    Invariant::query(
        "grants have a known permission",
        "SELECT 'user ' || app_user, 'has the permission ' || permission || ' on ' || kind || ' ' || entity
         FROM entity_grant WHERE permission NOT IN ('read_only', 'read_write') ORDER BY app_user, kind, entity",
    ),
    Invariant::query(
        "grants are on objects of the user's account",
        "SELECT 'user ' || u.id, 'has a grant on ' || g.kind || ' ' || g.entity || ', which belongs to another account'
         FROM entity_grant g JOIN app_user u ON u.id = g.app_user
             LEFT JOIN vpc v ON g.kind = 'vpc' AND v.id = g.entity
             LEFT JOIN instance i ON g.kind = 'linode' AND i.id = g.entity
         WHERE coalesce(v.account, i.account) <> u.account ORDER BY u.id, g.kind, g.entity",
    ),
    Invariant::query(
        "staff have no account grants",
        "SELECT 'user ' || u.id, 'is a member of the staff and has a grant of an account' FROM app_user u
         WHERE u.account IS NULL AND (EXISTS (SELECT 1 FROM global_grant g WHERE g.app_user = u.id)
             OR EXISTS (SELECT 1 FROM entity_grant g WHERE g.app_user = u.id)) ORDER BY u.id",
    ),
    Invariant::query(
        "exactly the members of staff have a role",
        "SELECT 'user ' || id, CASE WHEN account IS NULL THEN 'is a member of the staff and has no role'
             ELSE 'belongs to an account and has a role of staff' END
         FROM app_user WHERE (account IS NULL) <> (staff_role IS NOT NULL) ORDER BY id",
    ),
    Invariant::query(
        "staff authorize only OAuth clients of the provider",
        "SELECT 'user ' || u.id, 'is a member of the staff and has authorized the OAuth client ' || c.id
         FROM oauth_grant g JOIN app_user u ON u.id = g.app_user JOIN oauth_client c ON c.id = g.client
         WHERE u.account IS NULL AND c.account IS NOT NULL ORDER BY u.id, c.id",
    ),
    Invariant::function("OAuth tokens belong to the user of their authorization", check_oauth_tokens),
    Invariant::query(
        "tokens and passwords are stored as hashes",
        "SELECT 'token ' || id, 'is not stored as a SHA-256 hash' FROM token WHERE length(hash) <> 64
         UNION ALL SELECT 'user ' || id, 'has a password that is not stored as an Argon2 hash' FROM app_user
             WHERE password IS NOT NULL AND password NOT LIKE '$argon2%'",
    ),
];

/// Finds OAuth tokens whose authorization is missing or belongs to another user. Ignores expired tokens,
/// because they can outlive their authorization.
fn check_oauth_tokens(tx: &mut ReadTx, findings: &mut Findings) -> Result<(), StoreError> {
    let sql = "SELECT 'token ' || t.id, 'has no authorization, or its authorization belongs to another user' FROM token t
        WHERE t.oauth_grant IS NOT NULL AND t.revoked IS NULL AND (t.expiry IS NULL OR t.expiry > $1) AND NOT EXISTS
            (SELECT 1 FROM oauth_grant g WHERE g.id = t.oauth_grant AND g.app_user = t.app_user) ORDER BY t.id";
    let now = tx.now();
    findings.add_rows(tx, sql, args![now])
}
