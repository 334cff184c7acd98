//! An account with a user and a token, created in one call, so that each test can have its own.

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use serde::Serialize;

use crate::model::scope::Scopes;
use crate::model::token::{NewToken, TokenKind};
use crate::model::user::{Email, Membership, NewUser, Username};
use crate::rules::{self, Result};
use crate::store::WriteTx;
use crate::test_control::control::Control;
use crate::web::answer;

#[derive(Serialize)]
struct TenantView {
    account_id: i64,
    username: String,
    token: String,
}

pub async fn create(State(control): State<Control>) -> Result<Response> {
    // The rows are not replaced before the tenant exists.
    let _running = control.server().running().await;
    let tenant = control.store().write(create_tenant).await?;
    Ok(answer::json(StatusCode::OK, &tenant))
}

fn create_tenant(tx: &mut WriteTx) -> Result<TenantView> {
    let email = Email::parse("tenant@localhost").expect("the e-mail address is valid");
    let account = rules::accounts::create(tx, "", &email)?;
    // A user can have chosen the name with the number of the account, so the name has a random part, too.
    let random = u16::from_be_bytes([tx.random()[0], tx.random()[31]]);
    let username = format!("tenant-{}-{random:04x}", account.id);
    let new = NewUser {
        membership: Membership::Account(account.id),
        username: Username::parse(&username).expect("the username is valid"),
        email,
        restricted: false,
        password: None,
    };
    let user = rules::users::create(tx, &new)?;
    let token = NewToken {
        user: user.id,
        kind: TokenKind::Personal,
        label: "test".to_owned(),
        scopes: Scopes::Everything,
        expiry: None,
    };
    let (_, text) = rules::tokens::create(tx, &token, None)?;
    Ok(TenantView {
        account_id: account.id.0,
        username,
        token: text.reveal().to_owned(),
    })
}
