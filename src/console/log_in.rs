//! The log-in page of the console.

use axum::extract::{RawQuery, Request, State};
use axum::http::{HeaderMap, StatusCode};
use axum::response::Response;

use super::error_page::{Answer, CANNOT_BE, ErrorPage};
use super::navigation::{NAVIGATION, local};
use super::visit::side_of;
use crate::rules::{self, Error};
use crate::web::cookies::form_proof;
use crate::web::fields::{Fields, FormEncoding, pairs};
use crate::web::login_attempts::{Guess, client_address};
use crate::web::operation::Audience;
use crate::web::pages::{self, Bound, FROM_ANYWHERE, LogInNotes, LogInPage, go_to};
use crate::web::{App, cookies, log_in_form};

/// The side of whoever is logged in.
async fn who(app: &App, headers: &HeaderMap) -> Result<Option<Audience>, ErrorPage> {
    let Some(session) = cookies::read(headers, cookies::SESSION) else {
        return Ok(None);
    };
    let hash = session.hash();
    let identity = app
        .store()
        .read(move |tx| rules::sessions::identify(tx, hash))
        .await;
    match identity {
        Ok(identity) => Ok(Some(side_of(&identity))),
        Err(Error::Unauthenticated) => Ok(None),
        Err(other) => Err(other.into()),
    }
}

fn landing(side: Audience) -> Response {
    match NAVIGATION.iter().find(|(who, _, _)| *who == side) {
        Some((_, _, path)) => go_to(path),
        None => {
            let text =
                "You are logged in. There are no pages for you here yet; programs you allow can act for you.";
            pages::note(StatusCode::OK, "Logged in", text, FROM_ANYWHERE)
        }
    }
}

pub async fn form(State(app): State<App>, headers: HeaderMap, RawQuery(query): RawQuery) -> Answer {
    let query = pairs(query.unwrap_or_default().as_bytes());
    let to = query
        .into_iter()
        .find_map(|(key, to)| (key == "to").then_some(to));
    let to = to.and_then(|to| local(&to));
    if let Some(side) = who(&app, &headers).await? {
        return Ok(to.map_or_else(|| landing(side), |to| go_to(&to)));
    }
    let (proof, fresh) = form_proof(&app, &headers);
    let (to, notes) = (to.unwrap_or_default(), LogInNotes::default());
    let mut page = pages::log_in(StatusCode::OK, Bound::Console, &to, &proof.hex(), &notes);
    if let Some(fresh) = fresh {
        cookies::set(page.headers_mut(), cookies::FORM, &fresh);
    }
    Ok(page)
}

pub async fn log_in(State(app): State<App>, request: Request) -> Answer {
    let (headers, address) = (request.headers().clone(), client_address(request.extensions()));
    let fields = Fields::read(&app, request, FormEncoding::UrlEncoded).await?;
    let Some(proof) = log_in_form::proof_in(&headers, &fields) else {
        let text = "This form did not come from the page it belongs to, in this browser. Go back, load the page anew and \
                    try again. Cookies must be allowed, and the address must begin with https://.";
        return Err(ErrorPage::saying(&Error::Forbidden, "Please try again", text));
    };
    let (Some(username), Some(password)) = (fields.text("username"), fields.secret("password")) else {
        let text = "Something is missing in what your browser sent. Go back and try again.";
        return Err(ErrorPage::saying(&Error::Refused(Vec::new()), CANNOT_BE, text));
    };
    let to = fields.text("return_to").and_then(local);
    let page = LogInPage {
        bound: Bound::Console,
        return_to: to.as_deref().unwrap_or_default(),
        proof,
        username,
    };
    let guess = Guess::new(&headers, address, username, password);
    Ok(log_in_form::log_in(&app, guess, &page, to.as_deref().unwrap_or("/")).await?)
}
