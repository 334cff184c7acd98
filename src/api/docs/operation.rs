//! One operation: access, parameters, body, responses, errors and samples.

use maud::{Markup, html};
use serde_json::Value;

use super::document::{DocumentedOperation, entries, example, plain, resolve, text};
use super::paragraphs::paragraphs;
use super::schemas::{kind_of, limits, name_of, render_fields};
use super::{error_codes, samples};

pub fn render(operation: &DocumentedOperation) -> Markup {
    let try_out = can_be_tried(operation).then_some(operation.path.as_str());
    html! {
        article .operation id=(operation.id) data-method=(operation.method) data-try=[try_out] {
            h3 { (operation.summary) " " a .anchor href={ "#" (operation.id) } aria-label={ "Link to " (operation.summary) } { "#" } }
            p .path { code { span .method { (operation.method) } " " (operation.path) } }
            (paragraphs(text(&operation.details["description"])))
            (render_access(operation))
            (render_parameters(operation))
            (render_body(operation))
            (render_responses(operation))
            (error_codes::render_errors(operation))
            (samples::render(operation))
        }
    }
}

/// Whether the script shows a form that sends the request. It can show JSON, but no pages, files and streams. A body of
/// other types than JSON cannot be edited as text.
fn can_be_tried(operation: &DocumentedOperation) -> bool {
    let is_json = |content: &Value| entries(content).all(|(kind, _)| kind == "application/json");
    let mut successes = operation
        .responses()
        .filter(|(status, _)| status.starts_with('2'));
    successes.all(|(_, response)| is_json(&response["content"]))
        && operation.bodies().all(|(kind, _)| kind == "application/json")
        && operation
            .responses()
            .any(|(_, response)| response["content"].is_object())
}

fn render_access(operation: &DocumentedOperation) -> Markup {
    let scopes = operation.scopes();
    html! {
        p .access {
            @if !operation.requires_token() { "No token required." }
            @else if scopes.is_empty() { "Requires a token with any scope." }
            @else { "Required scope: " code { (scopes.join(" ")) } "." }
            @match operation.details["x-garth-grant"].as_str() {
                None => {}
                Some("unrestricted") => { " Requires an unrestricted user." }
                Some(grant) => { " Restricted users need the grant " code { (grant) } "." }
            }
            @if let Some(role) = operation.details["x-garth-role"].as_str() { " Required staff role: " code { (role) } "." }
        }
    }
}

fn render_parameters(operation: &DocumentedOperation) -> Markup {
    html! {
        @if !operation.parameters.is_empty() {
            h4 { "Parameters" }
            table .parameters {
                thead { tr { th scope="col" { "Name" } th scope="col" { "Location" } th scope="col" { "Description" } } }
                tbody { @for parameter in &operation.parameters { (render_parameter(parameter)) } }
            }
        }
    }
}

fn render_parameter(parameter: &'static Value) -> Markup {
    let (name, location) = (text(&parameter["name"]), text(&parameter["in"]));
    let is_required = parameter["required"] == true;
    let example = plain(&parameter["example"]);
    html! {
        tr data-name=(name) data-in=(location) data-required[is_required] data-example=(example) {
            th scope="row" { code { (name) } @if is_required { " " span .required { "required" } } }
            td { (location) ", " (kind_of(&parameter["schema"])) }
            td { (text(&parameter["description"])) " " (limits(&parameter["schema"])) }
        }
    }
}

fn render_body(operation: &DocumentedOperation) -> Markup {
    let kinds: Vec<&str> = operation.bodies().map(|(kind, _)| kind).collect();
    let Some((_, media)) = operation.bodies().next() else {
        return html! {};
    };
    html! {
        h4 { "Request body" }
        p {
            code { (kinds.join(" or ")) }
            @if let Some(name) = name_of(&media["schema"]) { ", " (name) }
        }
        (render_fields(resolve(&media["schema"])))
        (render_example(media, "body"))
    }
}

fn render_responses(operation: &DocumentedOperation) -> Markup {
    let successes = operation
        .responses()
        .filter(|(status, _)| status.starts_with(['2', '3']));
    html! {
        h4 { "Responses" }
        @for (status, response) in successes {
            p {
                strong { (status) } " " (text(&response["description"]))
                @if let Some((kind, media)) = entries(&response["content"]).next() {
                    " " code { (kind) }
                    @if name_of(&media["schema"]).is_some() { ", " (kind_of(&media["schema"])) }
                }
            }
            @if let Some((_, media)) = entries(&response["content"]).next() {
                @if name_of(&media["schema"]).is_none() { (render_fields(&media["schema"])) }
                (render_example(media, "response"))
            }
        }
    }
}

/// An example, collapsed. `part` is `body` or `response`.
fn render_example(media: &'static Value, part: &str) -> Markup {
    let shown = match example(media) {
        None => return html! {},
        Some(Value::String(text)) => text.clone(),
        Some(value) => serde_json::to_string_pretty(value).unwrap_or_default(),
    };
    html! {
        details { summary { "Example" } pre class=(part) { (shown) } }
    }
}
