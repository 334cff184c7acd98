//! Pages of a VPC's subnets.

use axum::extract::State;
use axum::response::Response;
use maud::{Markup, html};

use crate::console::address_map::{self, in_use, instance, span};
use crate::console::error_page::{Answer, ErrorPage};
use crate::console::forms::{self, Card, SEEN, Sent, Typed};
use crate::console::layout::{counted, done, empty, fragment, time};
use crate::console::query::Query;
use crate::console::usage::used_meter;
use crate::console::visit::Visit;
use crate::console::vpcs::{self, label_field, range_field, refusals, state, verdict};
use crate::model::address_map::{View, bucket_prefix};
use crate::model::cidr::Cidr;
use crate::model::grant::{Granted, Permission};
use crate::model::id::{InterfaceId, SubnetId, VpcId};
use crate::model::interface::write_address;
use crate::model::reason::Code;
use crate::model::subnet::Subnet;
use crate::model::tag::Tag;
use crate::model::vpc::Vpc;
use crate::rules;
use crate::rules::address_map::{SubnetMap, Window};
use crate::rules::addresses::{self, Usage};
use crate::rules::caller::Caller;
use crate::rules::error::FieldError;
use crate::store::ReadTx;
use crate::web::App;
use crate::web::extract::At;

type Path = At<(VpcId, SubnetId)>;

pub fn address(subnet: &Subnet) -> String {
    format!("/vpcs/{}/subnets/{}", subnet.vpc, subnet.id)
}

/// Where an interface on the subnet can be seen: large subnets show single addresses only from near by.
pub fn place_of(subnet: &Subnet, interface: InterfaceId) -> String {
    place_at(&address(subnet), subnet, interface)
}

/// The same on the page of the subnet that is at `here`.
pub fn place_at(here: &str, subnet: &Subnet, interface: InterfaceId) -> String {
    match bucket_prefix(subnet.ipv4) {
        None => format!("{here}#interface-{interface}"),
        Some(_) => format!("{here}?interface={interface}#interface-{interface}"),
    }
}

/// How many instances are on a subnet; the interfaces of one stand together.
pub fn instances(subnet: &Subnet) -> usize {
    subnet.uses.chunk_by(|a, b| a.instance == b.instance).count()
}

pub async fn new(State(app): State<App>, visit: Visit, caller: Caller, At(id): At<VpcId>) -> Answer {
    let vpc = app
        .read(caller, move |tx, caller| changeable(tx, caller, id))
        .await?;
    let ranges: Vec<Cidr> = vpc.subnets.iter().map(|subnet| subnet.ipv4).collect();
    let proposed = rules::subnets::propose(&app.store().world().policy, &ranges);
    let range = proposed.map(|range| range.to_string()).unwrap_or_default();
    let label = format!("subnet-{}", vpc.subnets.len() + 1);
    let typed = Typed::proposed(&[("label", &label), ("ipv4", &range)]);
    Ok(draw_new(&visit, &vpc, &typed))
}

pub async fn create(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<VpcId>,
    sent: Sent,
) -> Answer {
    let request = sent.request(sent.object(&vpcs::ROW));
    let made = app
        .write(caller.clone(), move |tx, caller| {
            rules::subnets::create(tx, caller, id, &request)
        })
        .await;
    match made {
        Ok(subnet) => Ok(done(&address(&subnet), "subnet-created")),
        Err(error) => {
            let typed = forms::again(sent, error)?;
            let vpc = app
                .read(caller, move |tx, caller| changeable(tx, caller, id))
                .await?;
            Ok(draw_new(&visit, &vpc, &typed))
        }
    }
}

/// What there is to say of a range while it is typed.
pub async fn check(State(app): State<App>, caller: Caller, At(id): At<VpcId>, query: Query) -> Answer {
    let Query(sent) = query;
    let request = sent.request(sent.object(&vpcs::ROW));
    let (wrong, ranges) = app
        .read(caller, move |tx, caller| {
            let vpc = changeable(tx, caller, id)?;
            let wrong = refusals(rules::subnets::check(tx, caller, id, &request))?;
            let ranges: Vec<Cidr> = vpc.subnets.iter().map(|subnet| subnet.ipv4).collect();
            Ok((wrong, ranges))
        })
        .await?;
    let proposed = rules::subnets::propose(&app.store().world().policy, &ranges);
    let said = verdict("ipv4", sent.text("ipv4"), &wrong, proposed);
    Ok(fragment(&said))
}

fn changeable(tx: &mut ReadTx, caller: &Caller, id: VpcId) -> rules::Result<Vpc> {
    rules::vpcs::load_for(tx, caller, id, Permission::ReadWrite)
}

fn draw_new(visit: &Visit, vpc: &Vpc, typed: &Typed) -> Response {
    let (label, here) = (vpc.label.as_str(), vpcs::address(vpc.id));
    let form = Card::new(format!("{here}/subnets/new"), "Add subnet", &here);
    let body = html! {
        h1 { "Add a subnet to " (label) }
        (forms::card(visit, typed, &form, &html! {
            (label_field(typed, "label", true))
            (range_field(typed, "ipv4", &format!("{here}/subnets/check")))
            p .hint { "A private range from /8 to /29 that overlaps no other subnet. It cannot be changed later." }
        }))
    };
    visit.form_page(typed, "Add a subnet", &[vpcs::LIST, (label, &here)], &body)
}

pub async fn view(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At((vpc, id)): Path,
    query: Query,
) -> Answer {
    let window = window(&query)?;
    let (shown, usage, may_change) = app
        .read(caller, move |tx, caller| {
            let shown = rules::address_map::view(tx, caller, vpc, id, window)?;
            let usage = addresses::used_in_subnets(tx, std::slice::from_ref(&shown.subnet))?;
            let may_change = caller
                .require_permission(tx, Granted::Vpc, vpc.0, Permission::ReadWrite)
                .is_ok();
            Ok((shown, usage[0], may_change))
        })
        .await?;
    let (label, above) = (shown.subnet.label.as_str(), vpcs::address(vpc));
    let way = [vpcs::LIST, (shown.vpc.label.as_str(), above.as_str())];
    let here = address(&shown.subnet);
    Ok(visit.page(label, &way, &draw(&shown, usage, &here, may_change)))
}

/// What of the subnet the address of the page asks for.
pub fn window(query: &Query) -> Result<Window, ErrorPage> {
    match (query.text("in"), query.text("interface").parse()) {
        ("", Ok(interface)) => Ok(Window::Around(InterfaceId(interface))),
        ("", Err(_)) => Ok(Window::Whole),
        (part, _) => Ok(Window::Part(
            Cidr::parse(part).map_err(|_| ErrorPage::not_found())?,
        )),
    }
}

/// The page that is at `here`.
pub fn draw(shown: &SubnetMap, usage: Usage, here: &str, may_change: bool) -> Markup {
    let subnet = &shown.subnet;
    let assignable = subnet.ipv4.assignable();
    let whole = shown.window == subnet.ipv4;
    html! {
        div .title {
            h1 { (subnet.label.as_str()) " " code .range { (subnet.ipv4) } }
            @if may_change { div .actions {
                a .button href=(format!("{here}/edit")) { "Edit" }
                a .button.danger href=(format!("{here}/delete")) { "Delete" }
            } }
        }
        dl .facts {
            div { dt { "Gateway" } dd { code { (write_address(subnet.ipv4.gateway())) } } }
            div { dt { "For instances" } dd { code { (write_address(*assignable.start())) " – " (write_address(*assignable.end())) } } }
            div { dt { "In use" } dd { (used_meter(usage)) } }
            div { dt { "Instances" } dd { (instances(subnet)) } }
            div { dt { "Id" } dd { (subnet.id) } }
            div { dt { "Created" } dd { (time(subnet.created)) } }
            div { dt { "Changed" } dd { (time(subnet.updated)) } }
        }
        section aria-labelledby="map" {
            div .title {
                h2 #map { "Addresses" @if !whole { " of " code { (shown.window) } } }
                @if !whole { a href=(here) { "The whole subnet" } }
            }
            (address_map::subnet(&shown.view, &shown.holders, &format!("{here}?in=")))
        }
        section aria-labelledby="taken" {
            h2 #taken { "In use" @if !whole { " in " code { (shown.window) } } }
            (table(shown, here))
        }
    }
}

fn nobody() -> Markup {
    let text = "No instance has an address of these. Give a config of one an interface on this subnet, by the API or a client of it.";
    empty("Nobody is here", text, None)
}

/// What the map shows, for whoever cannot see it, and with more words.
fn table(shown: &SubnetMap, here: &str) -> Markup {
    match &shown.view {
        View::Addresses(_) => html! {
            @if shown.holders.is_empty() {
                (nobody())
            } @else {
                table .list {
                    thead { tr { th scope="col" { "Address" } th scope="col" { "Instance" } th scope="col" .number { "Config" }
                        th scope="col" .number { "Interface" } th scope="col" { "State" } } }
                    tbody {
                        @for holder in &shown.holders {
                            tr #(address_map::anchor(holder)) {
                                th scope="row" {
                                    code { @if holder.is_range { (span(holder.first, holder.last)) } @else { (write_address(holder.first)) } }
                                    @if holder.is_range { " " span .tag { "range" } }
                                }
                                td data-label="Instance" { (instance(holder)) " " span .id { (holder.instance) } }
                                td .number data-label="Config" { (holder.config) }
                                td .number data-label="Interface" { (holder.interface) }
                                td data-label="State" { (state(holder.active)) }
                            }
                        }
                    }
                }
            }
        },
        View::Buckets(buckets) => html! {
            @let used: Vec<_> = buckets.iter().filter(|bucket| bucket.used > 0).collect();
            @if used.is_empty() {
                (nobody())
            } @else {
                table .list {
                    thead { tr { th scope="col" { "Part" } th scope="col" { "Addresses in use" } } }
                    tbody {
                        @for bucket in used {
                            tr {
                                th scope="row" { a href=(format!("{here}?in={}", bucket.range)) { code { (bucket.range) } } }
                                td data-label="In use" { (in_use(address_map::usage(bucket))) }
                            }
                        }
                    }
                }
            }
        },
    }
}

pub async fn edit(State(app): State<App>, visit: Visit, caller: Caller, At((vpc, id)): Path) -> Answer {
    let (vpc, subnet) = app
        .read(caller, move |tx, caller| load(tx, caller, vpc, id))
        .await?;
    let typed = Typed::proposed(&[
        ("label", subnet.label.as_str()),
        (SEEN, &Tag::of(&subnet).to_string()),
    ]);
    Ok(draw_edit(&visit, &vpc, &subnet, &typed))
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At((vpc, id)): Path,
    sent: Sent,
) -> Answer {
    let request = sent.request(sent.object(&["label"]));
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            rules::subnets::update(tx, caller, (vpc, id), &request)
        })
        .await;
    let typed = match changed {
        Ok(subnet) => return Ok(done(&address(&subnet), "subnet-changed")),
        Err(error) => forms::again(sent, error)?,
    };
    let (vpc, subnet) = app
        .read(caller, move |tx, caller| load(tx, caller, vpc, id))
        .await?;
    let typed = typed.now(&subnet).beside(&[("label", subnet.label.as_str())]);
    Ok(draw_edit(&visit, &vpc, &subnet, &typed))
}

/// A subnet with its VPC, to be changed.
fn load(tx: &mut ReadTx, caller: &Caller, vpc: VpcId, id: SubnetId) -> rules::Result<(Vpc, Subnet)> {
    let subnet = rules::subnets::view(tx, caller, (vpc, id))?;
    let vpc = rules::vpcs::load_alone_for(tx, caller, vpc, Permission::ReadWrite)?;
    Ok((vpc, subnet))
}

fn draw_edit(visit: &Visit, vpc: &Vpc, subnet: &Subnet, typed: &Typed) -> Response {
    let (here, above) = (address(subnet), vpcs::address(vpc.id));
    let form = Card::new(format!("{here}/edit"), "Save", &here);
    let body = html! {
        h1 { "Edit " (subnet.label.as_str()) }
        (forms::card(visit, typed, &form, &html! {
            (label_field(typed, "label", true))
            p .quiet { "The range stays " code { (subnet.ipv4) } "." }
        }))
    };
    let title = format!("Edit {}", subnet.label.as_str());
    visit.form_page(typed, &title, &way(vpc, &above, subnet, &here), &body)
}

fn way<'a>(vpc: &'a Vpc, above: &'a str, subnet: &'a Subnet, here: &'a str) -> [(&'a str, &'a str); 3] {
    [
        vpcs::LIST,
        (vpc.label.as_str(), above),
        (subnet.label.as_str(), here),
    ]
}

pub async fn ask_delete(State(app): State<App>, visit: Visit, caller: Caller, At((vpc, id)): Path) -> Answer {
    let (vpc, subnet, wrong) = app
        .read(caller, move |tx, caller| {
            let (vpc, subnet) = load(tx, caller, vpc, id)?;
            let used = rules::subnets::refuse_if_used(tx, caller, std::slice::from_ref(&subnet));
            Ok((vpc, subnet, refusals(used)?))
        })
        .await?;
    let typed = Typed::refused(Sent::default(), wrong).now(&subnet);
    Ok(draw_delete(&visit, &vpc, &subnet, &typed))
}

pub async fn delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At((vpc_id, id)): Path,
    sent: Sent,
) -> Answer {
    let (vpc, subnet) = app
        .read(caller.clone(), move |tx, caller| load(tx, caller, vpc_id, id))
        .await?;
    let request = sent.request(Vec::new());
    let deleting = app.write(caller, move |tx, caller| {
        rules::subnets::delete(tx, caller, (vpc_id, id), &request)
    });
    let deleted = forms::confirmed(&sent, subnet.label.as_str(), deleting).await;
    let typed = match deleted {
        Ok(()) => return Ok(done(&vpcs::address(vpc_id), "subnet-deleted")),
        Err(error) => forms::again(sent, error)?,
    };
    Ok(draw_delete(&visit, &vpc, &subnet, &typed.now(&subnet)))
}

fn draw_delete(visit: &Visit, vpc: &Vpc, subnet: &Subnet, typed: &Typed) -> Response {
    let (here, above) = (address(subnet), vpcs::address(vpc.id));
    let label = subnet.label.as_str();
    let form = Card::new(format!("{here}/delete"), "Delete subnet", &here).danger();
    let body = html! {
        h1 { "Delete " (label) "?" }
        @if is_blocked(typed) {
            (blockers("The subnet cannot be deleted while instances are on it.", std::slice::from_ref(subnet), typed))
            p { a .button href=(here) { "Back to the subnet" } }
        } @else {
            (forms::card(visit, typed, &form, &html! {
                p { "This deletes the subnet and gives its range " code { (subnet.ipv4) } " back, for good." }
                (forms::confirm(typed, label))
            }))
        }
    };
    visit.form_page(
        typed,
        &format!("Delete {label}"),
        &way(vpc, &above, subnet, &here),
        &body,
    )
}

/// Whether something must be removed first.
pub fn is_blocked(typed: &Typed) -> bool {
    typed.wrong.iter().any(|wrong| wrong.code == Code::SubnetInUse)
}

/// What stands in the way of deleting, each with the place where it can be seen.
pub fn blockers(why: &str, subnets: &[Subnet], typed: &Typed) -> Markup {
    let place = |wrong: &FieldError| {
        let blocker = wrong.blocker.as_ref()?;
        let subnet = subnets.iter().find(|subnet| subnet.id == blocker.subnet)?;
        Some(place_of(subnet, blocker.interface))
    };
    let used: Vec<_> = typed
        .wrong
        .iter()
        .filter(|wrong| wrong.code == Code::SubnetInUse)
        .collect();
    html! {
        div .warning role="alert" {
            p { strong { (why) } " " (counted(used.len(), "interface stands", "interfaces stand")) " in the way:" }
            ul { @for wrong in used {
                li {
                    @match place(wrong) {
                        Some(place) => a href=(place) { (wrong.reason) },
                        None => (wrong.reason),
                    }
                }
            } }
            p { "Instances and their interfaces are managed with the API, or a program that speaks it." }
        }
    }
}
