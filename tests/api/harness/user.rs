//! Users who send requests to the server of a test.

use std::future::{Future, IntoFuture};
use std::pin::Pin;

use garth::model::grant::Global;
use garth::model::id::{AccountId, TokenId, VpcId};
use garth::model::scope::Scopes;
use garth::model::staff_role::StaffRole;
use garth::model::token::{NewToken, TokenKind};
use garth::model::user::{Email, Membership, NewUser, Username};
use garth::rules::{self, Error, grants::Grant};
use hyper::Method;
use hyper::body::Bytes;
use serde_json::Value;

use super::{Call, Reply, TestApp};

pub struct UserBuilder<'a> {
    pub(super) app: &'a TestApp,
    pub(super) name: &'a str,
    pub(super) membership: Membership,
    pub(super) restricted: bool,
    pub(super) grants: Vec<Grant>,
    pub(super) scopes: &'a str,
    pub(super) seconds: Option<i64>,
}

impl<'a> UserBuilder<'a> {
    pub fn of(mut self, account: AccountId) -> Self {
        self.membership = Membership::Account(account);
        self
    }

    pub fn staff(self) -> Self {
        self.role(StaffRole::Admin)
    }

    /// Makes the user a member of staff with this role.
    pub fn role(mut self, role: StaffRole) -> Self {
        self.membership = Membership::Staff(role);
        self
    }

    pub fn restricted(mut self) -> Self {
        self.restricted = true;
        self
    }

    /// Restricts the user and adds this grant.
    pub fn may(mut self, grant: Grant) -> Self {
        self.grants.push(grant);
        self.restricted()
    }

    pub fn scopes(mut self, scopes: &'a str) -> Self {
        self.scopes = scopes;
        self
    }

    pub fn expiring_in(mut self, seconds: i64) -> Self {
        self.seconds = Some(seconds);
        self
    }
}

impl<'a> IntoFuture for UserBuilder<'a> {
    type Output = User<'a>;
    type IntoFuture = Pin<Box<dyn Future<Output = User<'a>> + Send + 'a>>;

    fn into_future(self) -> Self::IntoFuture {
        Box::pin(async move {
            let username = Username::parse(self.name).expect("a username");
            let email = Email::parse(&format!("{}@example.com", self.name)).expect("an address");
            let new = NewUser {
                membership: self.membership,
                username,
                email,
                restricted: self.restricted,
                password: None,
            };
            let scopes = Scopes::parse(self.scopes).expect("scopes");
            let (grants, seconds) = (self.grants, self.seconds);
            let created = self.app.store.write(move |tx| {
                let user = rules::users::create(tx, &new)?;
                if !grants.is_empty() {
                    rules::grants::add(tx, user.username.as_str(), &grants)?;
                }
                let token = NewToken {
                    user: user.id,
                    kind: TokenKind::Personal,
                    label: String::new(),
                    scopes: scopes.clone(),
                    expiry: seconds.map(|seconds| tx.now().plus_seconds(seconds)),
                };
                let (token, text) = rules::tokens::create(tx, &token, None)?;
                Ok::<_, Error>((token.id, text.reveal().to_owned()))
            });
            let (token_id, token) = created.await.expect("a user can be created");
            User {
                app: self.app,
                token: Some(token),
                token_id,
            }
        })
    }
}

#[derive(Clone)]
pub struct User<'a> {
    pub app: &'a TestApp,
    pub token: Option<String>,
    pub token_id: TokenId,
}

impl User<'_> {
    pub fn call(&self, method: Method, path: &str) -> Call<'_> {
        let mut headers = Vec::new();
        if let Some(token) = &self.token {
            headers.push(("authorization".to_owned(), format!("Bearer {token}")));
        }
        Call {
            user: self,
            method,
            path: path.to_owned(),
            headers,
            body: Bytes::new(),
            chunked: false,
        }
    }

    pub async fn get(&self, path: &str) -> Reply {
        self.call(Method::GET, path).await
    }

    pub async fn post(&self, path: &str, body: Value) -> Reply {
        self.call(Method::POST, path).json(&body).await
    }

    pub async fn put(&self, path: &str, body: Value) -> Reply {
        self.call(Method::PUT, path).json(&body).await
    }

    pub async fn delete(&self, path: &str) -> Reply {
        self.call(Method::DELETE, path).await
    }

    pub async fn filter(&self, path: &str, filter: &str) -> Reply {
        self.call(Method::GET, path).header("x-filter", filter).await
    }

    /// Creates a VPC in us-east with subnets called `a`, `b`, …
    pub async fn create_vpc(&self, label: &str, ranges: &[&str]) -> VpcId {
        let names = 'a'..='z';
        let subnet =
            |(name, range): (char, &&str)| serde_json::json!({"label": name.to_string(), "ipv4": range});
        let subnets: Vec<_> = names.zip(ranges).map(subnet).collect();
        let body = serde_json::json!({"label": label, "region": "us-east", "subnets": subnets});
        let reply = self.post("/vpcs", body).await;
        assert_eq!(reply.status, 200, "{reply}");
        VpcId(reply.json()["id"].as_i64().expect("an id"))
    }

    /// Creates an instance without an image, with one interface on a subnet.
    pub async fn create_instance_on(&self, subnet: i64) -> Reply {
        let interfaces = serde_json::json!([{"purpose": "vpc", "subnet_id": subnet}]);
        let body = serde_json::json!({"type": "g6-nanode-1", "region": "us-east", "interfaces": interfaces});
        self.post("/compute/instances", body).await
    }

    /// Opens a ticket without a subject; returns its ID.
    pub async fn open_ticket(&self, summary: &str) -> i64 {
        let body = serde_json::json!({"summary": summary, "description": "Please look into it."});
        let reply = self.post("/support/tickets", body).await;
        assert_eq!(reply.status, 200, "{reply}");
        reply.json()["id"].as_i64().expect("an id")
    }

    pub async fn attach_file(&self, ticket: i64, name: &str, bytes: impl AsRef<[u8]>) -> Reply {
        let path = format!("/support/tickets/{ticket}/attachments");
        self.call(Method::POST, &path).file(name, bytes).await
    }

    /// The account's events, oldest first: `vpc_create 1`.
    pub async fn events(&self) -> Vec<String> {
        let reply = self.get("/account/events?after=0&page_size=500").await;
        let event =
            |event: &Value| format!("{} {}", event["action"].as_str().unwrap(), event["entity"]["id"]);
        reply.data().iter().map(event).collect()
    }

    pub async fn count(&self, path: &str) -> i64 {
        self.get(path).await.json()["results"].as_i64().expect("a list")
    }
}

pub fn add_vpcs() -> Grant {
    Grant::Global(Global::AddVpcs)
}
