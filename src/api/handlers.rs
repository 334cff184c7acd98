//! Functions that make the handlers of the operation table, each from a rule and a view.
//!
//! A handler confirms the principal, runs the rule and builds the response with the view, all in one transaction. The
//! functions differ in the input of the rule: a list request, the IDs in the path (`_at`), or the body.

use axum::extract::{FromRequest, FromRequestParts, State};
use axum::response::{IntoResponse, Response};
use serde_json::value::RawValue;

use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::rules::Result;
use crate::rules::caller::Principal;
use crate::rules::lists::ListRequest;
use crate::store::{ReadTx, WriteTx};
use crate::web::extract::{At, FromPath};
use crate::web::operation::{Handling, handler};
use crate::web::{App, WireNames, answer};

/// The settings that a view depends on.
pub struct ViewContext<'a> {
    pub names: WireNames,
    pub policy: &'a Policy,
    /// The ranges in which the subnets of a VPC can be.
    pub default_ranges: &'a RawValue,
}

/// The view of a rule without a result.
pub fn done<T>(_: &T, _: &ViewContext) -> Response {
    answer::done()
}

/// The view of a list without items.
pub fn empty_page(items: &Paged<()>, _: &ViewContext) -> Response {
    answer::page(items, |()| ())
}

/// Reads an object without an ID in its path, such as the profile of the caller.
pub fn view<C, T>(
    rule: impl Fn(&mut ReadTx, &C) -> Result<T> + Copy + Send + Sync + 'static,
    view: impl Fn(&T, &ViewContext) -> Response + Copy + Send + Sync + 'static,
) -> Handling
where
    C: Principal + FromRequestParts<App>,
    T: 'static,
{
    handler(move |State(app): State<App>, caller: C| read(app, caller, rule, view))
}

/// Reads the object with the ID in the path.
pub fn view_at<C, P, T>(
    rule: impl Fn(&mut ReadTx, &C, P) -> Result<T> + Copy + Send + Sync + 'static,
    view: impl Fn(&T, &ViewContext) -> Response + Copy + Send + Sync + 'static,
) -> Handling
where
    C: Principal + FromRequestParts<App>,
    P: FromPath + Clone + Send + 'static,
    T: 'static,
{
    handler(move |State(app): State<App>, caller: C, At(at): At<P>| {
        let rule = move |tx: &mut ReadTx, caller: &C| rule(tx, caller, at.clone());
        read(app, caller, rule, view)
    })
}

/// Reads a page of a list.
pub fn list<C, T>(
    rule: impl Fn(&mut ReadTx, &C, &ListRequest) -> Result<T> + Copy + Send + Sync + 'static,
    view: impl Fn(&T, &ViewContext) -> Response + Copy + Send + Sync + 'static,
) -> Handling
where
    C: Principal + FromRequestParts<App>,
    T: 'static,
{
    handler(move |State(app): State<App>, caller: C, list: ListRequest| {
        let rule = move |tx: &mut ReadTx, caller: &C| rule(tx, caller, &list);
        read(app, caller, rule, view)
    })
}

/// Reads a page of a list that belongs to the object with the ID in the path.
pub fn list_at<C, P, T>(
    rule: impl Fn(&mut ReadTx, &C, P, &ListRequest) -> Result<T> + Copy + Send + Sync + 'static,
    view: impl Fn(&T, &ViewContext) -> Response + Copy + Send + Sync + 'static,
) -> Handling
where
    C: Principal + FromRequestParts<App>,
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

/// Creates or changes an object.
pub fn change<C, I, T>(
    rule: impl Fn(&mut WriteTx, &C, &I) -> Result<T> + Copy + Send + Sync + 'static,
    view: impl Fn(&T, &ViewContext) -> Response + Copy + Send + Sync + 'static,
) -> Handling
where
    C: Principal + FromRequestParts<App>,
    I: FromRequest<App> + Send + 'static,
    T: 'static,
{
    handler(move |State(app): State<App>, caller: C, input: I| {
        let rule = move |tx: &mut WriteTx, caller: &C| rule(tx, caller, &input);
        write(app, caller, rule, view)
    })
}

/// Changes or deletes the object with the ID in the path, or creates an object that belongs to it.
pub fn change_at<C, P, I, T>(
    rule: impl Fn(&mut WriteTx, &C, P, &I) -> Result<T> + Copy + Send + Sync + 'static,
    view: impl Fn(&T, &ViewContext) -> Response + Copy + Send + Sync + 'static,
) -> Handling
where
    C: Principal + FromRequestParts<App>,
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

/// Runs the rule and builds the response, both on the thread that reads the rows. If one thread allocated the
/// rows and another thread freed them, the allocator would retain the memory. This matters for lists of
/// hundreds of thousands of rows.
async fn read<C: Principal, T>(
    app: App,
    caller: C,
    rule: impl Fn(&mut ReadTx, &C) -> Result<T> + Send + 'static,
    view: impl Fn(&T, &ViewContext) -> Response + Send + 'static,
) -> Response {
    let (names, default_ranges) = (app.names(), app.default_ranges());
    let response = app.read(caller, move |tx, caller| {
        let found = rule(tx, caller)?;
        let context = ViewContext {
            names,
            policy: tx.policy(),
            default_ranges: &default_ranges,
        };
        Ok(view(&found, &context))
    });
    response.await.into_response()
}

async fn write<C: Principal, T>(
    app: App,
    caller: C,
    rule: impl Fn(&mut WriteTx, &C) -> Result<T> + Send + 'static,
    view: impl Fn(&T, &ViewContext) -> Response + Send + 'static,
) -> Response {
    let (names, default_ranges) = (app.names(), app.default_ranges());
    let response = app.write(caller, move |tx, caller| {
        let result = rule(tx, caller)?;
        let context = ViewContext {
            names,
            policy: tx.policy(),
            default_ranges: &default_ranges,
        };
        Ok(view(&result, &context))
    });
    response.await.into_response()
}

/// Reads a page of the provider's public catalog. The catalog is part of the policy, so there is no transaction.
pub fn catalog_list<T: 'static>(
    rule: impl Fn(&Policy, &ListRequest) -> Result<T> + Copy + Send + Sync + 'static,
    view: impl Fn(&T, &ViewContext) -> Response + Copy + Send + Sync + 'static,
) -> Handling {
    handler(move |State(app): State<App>, list: ListRequest| {
        let response = catalog_view(&app, |policy| rule(policy, &list), view);
        std::future::ready(response)
    })
}

/// Reads one item of the catalog.
pub fn catalog_item<T: 'static>(
    rule: impl Fn(&Policy, &str) -> Result<T> + Copy + Send + Sync + 'static,
    view: impl Fn(&T, &ViewContext) -> Response + Copy + Send + Sync + 'static,
) -> Handling {
    handler(move |State(app): State<App>, At(id): At<String>| {
        let response = catalog_view(&app, |policy| rule(policy, &id), view);
        std::future::ready(response)
    })
}

fn catalog_view<T>(
    app: &App,
    rule: impl Fn(&Policy) -> Result<T>,
    view: impl Fn(&T, &ViewContext) -> Response,
) -> Response {
    let policy = app.store().policy();
    let context = ViewContext {
        names: app.names(),
        policy: &policy,
        default_ranges: &app.default_ranges(),
    };
    let response = rule(context.policy).map(|found| view(&found, &context));
    response.into_response()
}
