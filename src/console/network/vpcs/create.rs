//! Creating a VPC with its first subnets. The ranges are validated while the user types.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::{
    DESCRIPTION, LIST, SUBNET_FIELDS, field_errors, fill_size, label_field, range_feedback, range_field, url,
};
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Field, FormData, FormState};
use crate::console::ipv6;
use crate::console::layout::{fragment, redirect_with_notice};
use crate::console::query::Query;
use crate::console::visit::Visit;
use crate::model::cidr::Cidr;
use crate::model::grant::Global;
use crate::model::policy::Policy;
use crate::model::region::Region;
use crate::rules::caller::Caller;
use crate::rules::error::BodyFault;
use crate::rules::request::Request;
use crate::rules::{self, Error};
use crate::web::App;

pub async fn new(State(app): State<App>, visit: Visit, caller: Caller) -> PageResult {
    app.read(caller, |_, caller| caller.require_global_grant(Global::AddVpcs))
        .await?;
    let mut data = FormData::default();
    add_row(&app, &mut data);
    Ok(render_new(
        &app,
        &visit,
        &FormState::with_errors(data, Vec::new()),
    ))
}

/// Creates a VPC. If the user pressed the button to add or remove a subnet, only changes the rows of the
/// form.
pub async fn create(State(app): State<App>, visit: Visit, caller: Caller, mut data: FormData) -> PageResult {
    let removed_row = data.text("remove").parse().ok();
    data.remove_rows("subnets", &SUBNET_FIELDS, removed_row);
    refuse_many_rows(&data)?;
    if data.has("add") || removed_row.is_some() {
        if data.has("add") {
            add_row(&app, &mut data);
        }
        return Ok(render_new(
            &app,
            &visit,
            &FormState::with_errors(data, Vec::new()),
        ));
    }
    // After an error, the form has the sizes as they were typed, because other ranges can still change.
    let typed = data.clone();
    fill_sizes(&app.store().policy(), &mut data);
    let request = app.prepare(new_request(&data));
    let created = app
        .write(caller, move |tx, caller| {
            rules::vpcs::create(tx, caller, &request)
        })
        .await;
    match created {
        Ok(vpc) => Ok(redirect_with_notice(&url(vpc.id), "vpc-created")),
        Err(error) => {
            let form_state = ipv6::with_field_errors(forms::from_error(typed, error)?);
            Ok(render_new(&app, &visit, &form_state))
        }
    }
}

/// The maximum number of subnets in the form. A list in a JSON body has the same maximum.
const MAX_ROWS: usize = 1_000;

/// Refuses a form that no page of the console creates. The response would be many times as large.
fn refuse_many_rows(data: &FormData) -> Result<(), Error> {
    match data.row_count("subnets", &SUBNET_FIELDS) > MAX_ROWS {
        true => Err(Error::Body(BodyFault::TooLarge { max_bytes: 0 })),
        false => Ok(()),
    }
}

/// Validates a range while the user types.
pub async fn check(State(app): State<App>, caller: Caller, query: Query) -> PageResult {
    let Query(data) = query;
    let field = format!("subnets[{}].ipv4", data.text("at"));
    let request = app.prepare(new_request(&data));
    let checked = app.read(caller, move |tx, caller| {
        field_errors(rules::vpcs::check(tx, caller, &request))
    });
    let errors = checked.await?;
    let other_ranges: Vec<Cidr> = ranges(&data)
        .into_iter()
        .filter(|(name, _)| *name != field)
        .map(|(_, range)| range)
        .collect();
    let prefix = Cidr::prefix_length_of(data.text(&field));
    let proposed = rules::subnets::propose(&app.store().policy(), &other_ranges, prefix);
    let feedback = range_feedback(&field, data.text(&field), &errors, proposed);
    Ok(fragment(&feedback))
}

fn new_request(data: &FormData) -> Request {
    let mut object = data.object(&["label", "description"]);
    object.extend(data.non_empty(&["region"]));
    object.extend(ipv6::with_list(data.object(&[ipv6::FIELD])));
    let subnets = ipv6::with_lists(data.list("subnets", &SUBNET_FIELDS));
    object.push(("subnets".to_owned(), subnets));
    data.request(object)
}

/// Replaces each size by the next free range, after the ranges that are in the form.
fn fill_sizes(policy: &Policy, data: &mut FormData) {
    for at in 0..data.row_count("subnets", &SUBNET_FIELDS) {
        let taken: Vec<Cidr> = ranges(data).into_iter().map(|(_, range)| range).collect();
        fill_size(policy, data, &format!("subnets[{at}].ipv4"), &taken);
    }
}

/// The valid ranges in the form, by field name.
fn ranges(data: &FormData) -> Vec<(String, Cidr)> {
    let names = (0..data.row_count("subnets", &SUBNET_FIELDS)).map(|at| format!("subnets[{at}].ipv4"));
    names
        .filter_map(|name| {
            let range = Cidr::parse(data.text(&name)).ok()?;
            Some((name, range))
        })
        .collect()
}

/// Adds a subnet with the next free range.
fn add_row(app: &App, data: &mut FormData) {
    let at = data.row_count("subnets", &SUBNET_FIELDS);
    let taken: Vec<Cidr> = ranges(data).into_iter().map(|(_, range)| range).collect();
    let proposed = rules::subnets::propose(&app.store().policy(), &taken, None);
    data.set(&format!("subnets[{at}].label"), format!("subnet-{}", at + 1));
    let range = proposed.map(|range| range.to_string()).unwrap_or_default();
    data.set(&format!("subnets[{at}].ipv4"), range);
}

fn render_new(app: &App, visit: &Visit, form_state: &FormState) -> Response {
    let policy = &app.store().policy();
    let available = policy.regions.iter().filter(|region| region.offers(Region::VPCS));
    let regions: Vec<_> = available
        .map(|region| (region.id.clone(), format!("{} ({})", region.label, region.id)))
        .collect();
    let region = Field {
        name: "region",
        label: "Region",
        hint: "Cannot be changed later.",
        autofocus: true,
        ..Field::default()
    };
    let rows = form_state.data.row_count("subnets", &SUBNET_FIELDS);
    let vpc_choices = ipv6::vpc_choices(policy);
    let subnet_choices = match vpc_choices.is_empty() {
        true => Vec::new(),
        false => ipv6::subnet_choices(None),
    };
    let body = html! {
        h1 { "Create a VPC" }
        (form_state.alert())
        form .card method="post" novalidate action="/vpcs/new" {
            (visit.form_token())
            // The Enter key submits the form with its first button.
            button .hidden type="submit" tabindex="-1" aria-hidden="true" { "Create VPC" }
            (forms::select(form_state, region, &regions))
            (label_field(form_state, "label", false))
            (forms::textarea(form_state, DESCRIPTION, 2))
            (ipv6::range_field(form_state, ipv6::FIELD, "From the provider's pool. Cannot be changed later.", &vpc_choices))
            div #subnets .rows {
                h2 { "Subnets" }
                p .hint { "Private IPv4 ranges from /8 to /29 that do not overlap. The first two and the last two addresses of each are reserved."
                    @if !subnet_choices.is_empty() { " A subnet can also have a part of the VPC's IPv6 range. The first /64 of it is reserved." } }
                @for at in 0..rows { (render_row(form_state, at, &subnet_choices)) }
                button type="submit" name="add" value="1" formnovalidate hx-post="/vpcs/new" hx-target="#subnets" hx-select="#subnets"
                    hx-swap="outerHTML" { "Add " @if rows > 0 { "another" } @else { "a" } " subnet" }
            }
            div .actions {
                button .main type="submit" { "Create VPC" }
                a .button href="/vpcs" { "Cancel" }
            }
        }
    };
    visit.form_page(form_state, "Create a VPC", &[LIST], &body)
}

fn render_row(form_state: &FormState, at: usize, ipv6_choices: &[(String, String)]) -> Markup {
    let [label, ipv4, ipv6] = SUBNET_FIELDS.map(|name| format!("subnets[{at}].{name}"));
    html! {
        fieldset .row {
            legend { "Subnet " (at + 1) }
            (label_field(form_state, &label, false))
            (range_field(form_state, &ipv4, &format!("/vpcs/new/check?at={at}")))
            (ipv6::range_field(form_state, &ipv6, "", ipv6_choices))
            button .link type="submit" name="remove" value=(at) formnovalidate hx-post="/vpcs/new" hx-target="#subnets"
                hx-select="#subnets" hx-swap="outerHTML" { "Remove" span .hidden { " subnet " (at + 1) } }
        }
    }
}
