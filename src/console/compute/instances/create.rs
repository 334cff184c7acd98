//! Creating an instance, optionally on a subnet.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use super::{LIST, label_field, plan_size, price, url};
use crate::console::error_page::PageResult;
use crate::console::forms::{self, Field, FormData, FormState};
use crate::console::layout::{pluralize, redirect_with_notice};
use crate::console::query::Query;
use crate::console::subnet_choice::{self, Choices, FieldNames, Selection};
use crate::console::visit::Visit;
use crate::model::grant::Global;
use crate::model::input::Input;
use crate::model::plan::Plan;
use crate::model::policy::Policy;
use crate::model::reason::Code;
use crate::model::region::Region;
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::error::FieldError;
use crate::rules::request::Request;
use crate::web::App;

const NEW_URL: &str = "/instances/new";
const KEYS: &str = "authorized_keys";
const NAMES: FieldNames = FieldNames {
    subnet: "interfaces[0].subnet_id",
    address: "interfaces[0].ipv4.vpc",
};

/// The form. The page of a subnet links here with `?subnet_id=5`.
pub async fn new(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> PageResult {
    let mut data = FormData::default();
    for (parameter, field) in [
        ("region", "region"),
        ("vpc_id", "vpc_id"),
        ("subnet_id", NAMES.subnet),
        ("address", NAMES.address),
    ] {
        data.set(field, query.text(parameter));
    }
    data.set("booted", "true");
    render(&app, &visit, caller, FormState::with_errors(data, Vec::new())).await
}

pub async fn create(State(app): State<App>, visit: Visit, caller: Caller, data: FormData) -> PageResult {
    if subnet_choice::is_load(&data) {
        return render(&app, &visit, caller, FormState::with_errors(data, Vec::new())).await;
    }
    let request = app.prepare(new_request(&data));
    let created = app
        .write(caller.clone(), move |tx, caller| {
            rules::instances::create(tx, caller, &request)
        })
        .await;
    match created {
        Ok(instance) => Ok(redirect_with_notice(&url(instance.id), "instance-created")),
        Err(error) => {
            let mut form_state = forms::from_error(data, error)?.with_list_errors_at(KEYS);
            use_labels_of_form(&mut form_state.errors);
            render(&app, &visit, caller, form_state).await
        }
    }
}

/// Replaces the reasons that name the fields of the API.
fn use_labels_of_form(errors: &mut [FieldError]) {
    for error in errors {
        let reason = match error.code {
            Code::CredentialsMissing => "Enter a root password or an SSH key: the image needs one of them",
            Code::ImageRequired => "Only an image uses SSH keys: choose an image, or remove the keys",
            _ => continue,
        };
        error.reason = reason.to_owned();
    }
}

fn new_request(data: &FormData) -> Request {
    let text = |text: &str| Input::Text(text.to_owned());
    let mut object = data.object(&["label"]);
    object.extend(data.non_empty(&["region", "type", "image", "root_pass"]));
    object.push(data.checkbox("booted"));
    let keys = data.text(KEYS).lines().map(str::trim);
    let keys: Vec<_> = keys.filter(|key| !key.is_empty()).map(text).collect();
    if !keys.is_empty() {
        object.push((KEYS.to_owned(), Input::List(keys)));
    }
    let wants_subnet = ["vpc_id", NAMES.subnet]
        .iter()
        .any(|name| !data.text(name).is_empty());
    if wants_subnet {
        let interface = Input::Object(subnet_choice::interface(data, NAMES));
        object.push(("interfaces".to_owned(), Input::List(vec![interface])));
    }
    data.request(object)
}

async fn render(app: &App, visit: &Visit, caller: Caller, mut form_state: FormState) -> PageResult {
    let selection = Selection::read(&form_state.data, NAMES);
    let choices = app
        .read(caller, move |tx, caller| {
            caller.require_global_grant(Global::AddLinodes)?;
            selection.load(tx, caller)
        })
        .await?;
    if form_state.data.text("region").is_empty()
        && let Some(region) = &choices.region
    {
        form_state.data.set("region", region.as_str());
    }
    Ok(render_form(&app.store().policy(), visit, &form_state, &choices))
}

fn render_form(policy: &Policy, visit: &Visit, form_state: &FormState, choices: &Choices) -> Response {
    let body = html! {
        h1 { "Create an instance" }
        (form_state.alert())
        form .card method="post" novalidate action=(NEW_URL) {
            (visit.form_token())
            // The Enter key submits the form with its first button.
            button .hidden type="submit" tabindex="-1" aria-hidden="true" { "Create instance" }
            (choice_fields(policy, form_state))
            (label_field(form_state, false))
            div .rows {
                h2 { "Log-in" }
                p .hint { "An instance with an image needs a root password or an SSH key." }
                (credential_fields(form_state))
            }
            div .rows {
                h2 { "Private network" }
                p .hint { "You can also attach the instance later." }
                (subnet_choice::fields(form_state, choices, NAMES, true, NEW_URL))
            }
            (forms::checkbox(form_state, Field { name: "booted", label: "Boot the instance after it is created", ..Field::default() }))
            div .actions {
                button .main type="submit" { "Create instance" }
                a .button href=(LIST.1) { "Cancel" }
            }
        }
    };
    visit.form_page(form_state, "Create an instance", &[LIST], &body)
}

/// The region, the plan and the image.
fn choice_fields(policy: &Policy, form_state: &FormState) -> Markup {
    let regions = policy
        .regions
        .iter()
        .filter(|region| region.offers(Region::LINODES));
    let regions: Vec<_> = regions
        .map(|region| (region.id.clone(), format!("{} ({})", region.label, region.id)))
        .collect();
    let plans = policy.plans.iter();
    let plans = plans.filter(|plan| plan.successor.is_none() && !plan.retired);
    let plans: Vec<_> = plans.map(|plan| (plan.id.clone(), plan_choice(plan))).collect();
    let images = policy.images.iter().filter(|image| !image.is_deprecated());
    let images: Vec<_> = images
        .map(|image| (image.id.clone(), image.label.clone()))
        .collect();
    let field = |name, label, hint| Field {
        name,
        label,
        hint,
        ..Field::default()
    };
    let region = Field {
        autofocus: true,
        ..field("region", "Region", "Cannot be changed later.")
    };
    let image = Field {
        optional: true,
        ..field(
            "image",
            "Image",
            "Without an image, the instance has no disks. With neither an image nor a subnet, it has no config, and cannot boot until you add one.",
        )
    };
    html! {
        (forms::select(form_state, region, &regions))
        (forms::select(form_state, field("type", "Plan", "Prices can differ by region."), &plans))
        (forms::select_or(form_state, image, "None", &images))
    }
}

/// A plan with its size and its price.
fn plan_choice(plan: &Plan) -> String {
    let vcpus = pluralize(plan.vcpus.unsigned_abs() as usize, "vCPU", "vCPUs");
    let (memory, disk) = (plan_size(plan.memory), plan_size(plan.disk));
    let price = price(plan.prices.monthly);
    format!(
        "{}: {vcpus}, {memory} memory, {disk} disk, {price} a month",
        plan.label
    )
}

fn credential_fields(form_state: &FormState) -> Markup {
    let password = Field {
        name: "root_pass",
        label: "Root password",
        optional: true,
        ..Field::default()
    };
    let keys = Field {
        name: KEYS,
        label: "SSH keys",
        hint: "Public keys, one per line.",
        optional: true,
        ..Field::default()
    };
    html! {
        (forms::password_input(form_state, password, "new-password"))
        (forms::textarea(form_state, keys, 2))
    }
}
