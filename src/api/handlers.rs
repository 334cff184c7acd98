//! The one way through a request: the caller is confirmed, a rule runs, and a view shapes what it made, all in one
//! transaction. What comes out of the transaction is the finished answer.
//!
//! Each function makes the handler of a line of the operation table from a rule and a view. They differ in what the rule
//! takes: a list's page and filter, what the path names (`_at`), or what came with the request.

use axum::extract::{FromRequest, FromRequestParts, State};
use axum::response::{IntoResponse, Response};

use crate::model::policy::Policy;
use crate::rules::Result;
use crate::rules::caller::Asker;
use crate::rules::lists::ListRequest;
use crate::store::{ReadTx, WriteTx};
use crate::web::extract::{At, FromPath};
use crate::web::operation::{Handling, handler};
use crate::web::{App, WireNames, answer};

/// What a view needs to know besides the thing it shows.
pub struct Wire<'a> {
    pub names: WireNames,
    pub policy: &'a Policy,
}

/// The view of a rule that has nothing to show.
pub fn done<T>(_: &T, _: &Wire) -> Response {
    answer::done()
}

/// Something of the caller's own.
pub fn view<C, T>(
    rule: impl Fn(&mut ReadTx, &C) -> Result<T> + Copy + Send + Sync + 'static,
    view: impl Fn(&T, &Wire) -> Response + Copy + Send + Sync + 'static,
) -> Handling
where
    C: Asker + FromRequestParts<App>,
    T: 'static,
{
    handler(move |State(app): State<App>, caller: C| read(app, caller, rule, view))
}

/// What a path names.
pub fn view_at<C, P, T>(
    rule: impl Fn(&mut ReadTx, &C, P) -> Result<T> + Copy + Send + Sync + 'static,
    view: impl Fn(&T, &Wire) -> Response + Copy + Send + Sync + 'static,
) -> Handling
where
    C: Asker + FromRequestParts<App>,
    P: FromPath + Clone + Send + 'static,
    T: 'static,
{
    handler(move |State(app): State<App>, caller: C, At(at): At<P>| {
        let rule = move |tx: &mut ReadTx, caller: &C| rule(tx, caller, at.clone());
        read(app, caller, rule, view)
    })
}

/// A page of a list.
pub fn list<C, T>(
    rule: impl Fn(&mut ReadTx, &C, &ListRequest) -> Result<T> + Copy + Send + Sync + 'static,
    view: impl Fn(&T, &Wire) -> Response + Copy + Send + Sync + 'static,
) -> Handling
where
    C: Asker + FromRequestParts<App>,
    T: 'static,
{
    handler(move |State(app): State<App>, caller: C, list: ListRequest| {
        let rule = move |tx: &mut ReadTx, caller: &C| rule(tx, caller, &list);
        read(app, caller, rule, view)
    })
}

/// A page of the list that a path names.
pub fn list_at<C, P, T>(
    rule: impl Fn(&mut ReadTx, &C, P, &ListRequest) -> Result<T> + Copy + Send + Sync + 'static,
    view: impl Fn(&T, &Wire) -> Response + Copy + Send + Sync + 'static,
) -> Handling
where
    C: Asker + FromRequestParts<App>,
    P: FromPath + Clone + Send + 'static,
    T: 'static,
{
    handler(
        move |State(app): State<App>, caller: C, At(at): At<P>, list: ListRequest| {
            let rule = move |tx: &mut ReadTx, caller: &C| rule(tx, caller, at.clone(), &list);
            read(app, caller, rule, view)
        },
    )
}

/// A change, as the request asks for it.
pub fn change<C, I, T>(
    rule: impl Fn(&mut WriteTx, &C, &I) -> Result<T> + Copy + Send + Sync + 'static,
    view: impl Fn(&T, &Wire) -> Response + Copy + Send + Sync + 'static,
) -> Handling
where
    C: Asker + FromRequestParts<App>,
    I: FromRequest<App> + Send + 'static,
    T: 'static,
{
    handler(move |State(app): State<App>, caller: C, input: I| {
        let rule = move |tx: &mut WriteTx, caller: &C| rule(tx, caller, &input);
        write(app, caller, rule, view)
    })
}

/// A change of what a path names.
pub fn change_at<C, P, I, T>(
    rule: impl Fn(&mut WriteTx, &C, P, &I) -> Result<T> + Copy + Send + Sync + 'static,
    view: impl Fn(&T, &Wire) -> Response + Copy + Send + Sync + 'static,
) -> Handling
where
    C: Asker + FromRequestParts<App>,
    P: FromPath + Clone + Send + 'static,
    I: FromRequest<App> + Send + 'static,
    T: 'static,
{
    handler(
        move |State(app): State<App>, caller: C, At(at): At<P>, input: I| {
            let rule = move |tx: &mut WriteTx, caller: &C| rule(tx, caller, at.clone(), &input);
            write(app, caller, rule, view)
        },
    )
}

/// Shaped where it was read: rows by the hundred thousand that one thread makes and another frees stay with the allocator.
async fn read<C: Asker, T>(
    app: App,
    caller: C,
    rule: impl Fn(&mut ReadTx, &C) -> Result<T> + Send + 'static,
    view: impl Fn(&T, &Wire) -> Response + Send + 'static,
) -> Response {
    let names = app.names();
    let answered = app.read(caller, move |tx, caller| {
        let found = rule(tx, caller)?;
        let policy = tx.policy();
        Ok(view(&found, &Wire { names, policy }))
    });
    answered.await.into_response()
}

async fn write<C: Asker, T>(
    app: App,
    caller: C,
    rule: impl Fn(&mut WriteTx, &C) -> Result<T> + Send + 'static,
    view: impl Fn(&T, &Wire) -> Response + Send + 'static,
) -> Response {
    let names = app.names();
    let answered = app.write(caller, move |tx, caller| {
        let made = rule(tx, caller)?;
        let policy = tx.policy();
        Ok(view(&made, &Wire { names, policy }))
    });
    answered.await.into_response()
}

/// A page of what the provider offers, open to everybody: it is in the settings, so there is no transaction.
pub fn offers<T: 'static>(
    rule: impl Fn(&Policy, &ListRequest) -> Result<T> + Copy + Send + Sync + 'static,
    view: impl Fn(&T, &Wire) -> Response + Copy + Send + Sync + 'static,
) -> Handling {
    handler(move |State(app): State<App>, list: ListRequest| {
        let answered = offer(&app, |policy| rule(policy, &list), view);
        std::future::ready(answered)
    })
}

/// One thing of those.
pub fn offer_at<T: 'static>(
    rule: impl Fn(&Policy, &str) -> Result<T> + Copy + Send + Sync + 'static,
    view: impl Fn(&T, &Wire) -> Response + Copy + Send + Sync + 'static,
) -> Handling {
    handler(move |State(app): State<App>, At(id): At<String>| {
        let answered = offer(&app, |policy| rule(policy, &id), view);
        std::future::ready(answered)
    })
}

fn offer<T>(
    app: &App,
    rule: impl Fn(&Policy) -> Result<T>,
    view: impl Fn(&T, &Wire) -> Response,
) -> Response {
    let (names, policy) = (app.names(), &app.store().context().policy);
    let answered = rule(policy).map(|found| view(&found, &Wire { names, policy }));
    answered.into_response()
}
