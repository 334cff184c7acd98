//! Making a VPC with its first subnets, whose ranges are judged while they are typed.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::{DESCRIPTION, LIST, ROW, address, label_field, range_field, refusals, verdict};
use crate::console::error_page::Answer;
use crate::console::forms::{self, Field, Sent, Typed};
use crate::console::layout::{done, fragment};
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::cidr::Cidr;
use crate::model::grant::Global;
use crate::model::region::Region;
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::request::Request;
use crate::web::App;

pub async fn new(State(app): State<App>, visit: Visit, caller: Caller) -> Answer {
    app.read(caller, |_, caller| caller.require_global_grant(Global::AddVpcs))
        .await?;
    let mut sent = Sent::default();
    add_row(&app, &mut sent);
    Ok(draw_new(&app, &visit, &Typed::refused(sent, Vec::new())))
}

/// Makes a VPC; or only adds or takes away a row of the form, for those without script.
pub async fn create(State(app): State<App>, visit: Visit, caller: Caller, mut sent: Sent) -> Answer {
    let taken_away = sent.text("remove").parse().ok();
    sent.without_row("subnets", &ROW, taken_away);
    if sent.has("add") || taken_away.is_some() {
        if sent.has("add") {
            add_row(&app, &mut sent);
        }
        return Ok(draw_new(&app, &visit, &Typed::refused(sent, Vec::new())));
    }
    let request = app.prepare(new_request(&sent));
    let made = app
        .write(caller, move |tx, caller| {
            rules::vpcs::create(tx, caller, &request)
        })
        .await;
    match made {
        Ok(vpc) => Ok(done(&address(vpc.id), "vpc-created")),
        Err(error) => {
            let typed = forms::again(sent, error)?;
            Ok(draw_new(&app, &visit, &typed))
        }
    }
}

/// What there is to say of a range while it is typed.
pub async fn check(State(app): State<App>, caller: Caller, query: Query) -> Answer {
    let Query(sent) = query;
    let field = format!("subnets[{}].ipv4", sent.text("at"));
    let request = app.prepare(new_request(&sent));
    let checked = app.read(caller, move |tx, caller| {
        refusals(rules::vpcs::check(tx, caller, &request))
    });
    let wrong = checked.await?;
    let others: Vec<Cidr> = ranges(&sent)
        .into_iter()
        .filter(|(name, _)| *name != field)
        .map(|(_, range)| range)
        .collect();
    let proposed = rules::subnets::propose(&app.store().world().policy, &others);
    let said = verdict(&field, sent.text(&field), &wrong, proposed);
    Ok(fragment(&said))
}

fn new_request(sent: &Sent) -> Request {
    let mut object = sent.object(&["label", "description"]);
    object.extend(sent.filled(&["region"]));
    object.push(("subnets".to_owned(), sent.list("subnets", &ROW)));
    sent.request(object)
}

/// The ranges that were typed so far, as far as they are some.
fn ranges(sent: &Sent) -> Vec<(String, Cidr)> {
    let names = (0..sent.rows("subnets", &ROW)).map(|at| format!("subnets[{at}].ipv4"));
    names
        .filter_map(|name| {
            let range = Cidr::parse(sent.text(&name)).ok()?;
            Some((name, range))
        })
        .collect()
}

/// Adds a subnet with the next free range.
fn add_row(app: &App, sent: &mut Sent) {
    let at = sent.rows("subnets", &ROW);
    let taken: Vec<Cidr> = ranges(sent).into_iter().map(|(_, range)| range).collect();
    let proposed = rules::subnets::propose(&app.store().world().policy, &taken);
    sent.set(&format!("subnets[{at}].label"), format!("subnet-{}", at + 1));
    let range = proposed.map(|range| range.to_string()).unwrap_or_default();
    sent.set(&format!("subnets[{at}].ipv4"), range);
}

fn draw_new(app: &App, visit: &Visit, typed: &Typed) -> Response {
    let able = app
        .store()
        .world()
        .policy
        .regions
        .iter()
        .filter(|region| region.has_capability(Region::VPCS));
    let regions: Vec<_> = able
        .map(|region| (region.id.clone(), format!("{} ({})", region.label, region.id)))
        .collect();
    let region = Field {
        name: "region",
        label: "Region",
        hint: "Where the VPC and its instances are. It cannot be changed later.",
        autofocus: true,
        ..Field::default()
    };
    let rows = typed.sent.rows("subnets", &ROW);
    let body = html! {
        h1 { "Create a VPC" }
        (typed.alert())
        form .card method="post" action="/vpcs/new" {
            (visit.form_token())
            // Return in a field means this button, not the first of the others.
            button .hidden type="submit" tabindex="-1" aria-hidden="true" { "Create VPC" }
            (forms::choice(typed, region, &regions))
            (label_field(typed, "label", false))
            (forms::lines(typed, DESCRIPTION, 2))
            div #subnets .rows {
                h2 { "Subnets" }
                p .hint { "Private ranges from /8 to /29 that do not overlap. The first two and the last two addresses of each are kept." }
                @for at in 0..rows { (draw_row(typed, at)) }
                button type="submit" name="add" value="1" formnovalidate hx-post="/vpcs/new" hx-target="#subnets" hx-select="#subnets"
                    hx-swap="outerHTML" { "Add " @if rows > 0 { "another" } @else { "a" } " subnet" }
            }
            div .actions {
                button .main type="submit" { "Create VPC" }
                a .button href="/vpcs" { "Cancel" }
            }
        }
    };
    visit.form_page(typed, "Create a VPC", &[LIST], &body)
}

fn draw_row(typed: &Typed, at: usize) -> Markup {
    let (label, ipv4) = (format!("subnets[{at}].label"), format!("subnets[{at}].ipv4"));
    html! {
        fieldset .row {
            legend { "Subnet " (at + 1) }
            (label_field(typed, &label, false))
            (range_field(typed, &ipv4, &format!("/vpcs/new/check?at={at}")))
            button .link type="submit" name="remove" value=(at) formnovalidate hx-post="/vpcs/new" hx-target="#subnets"
                hx-select="#subnets" hx-swap="outerHTML" { "Remove" span .hidden { " subnet " (at + 1) } }
        }
    }
}
