//! Pages of VPCs.

use std::collections::HashMap;

use axum::extract::State;
use axum::http::StatusCode;
use axum::response::Response;
use maud::{Markup, html};

use super::address_map::{self, Block};
use super::forms::{self, Field, SEEN, Sent, Typed};
use super::layout::{counted, done, empty, fragment, number, pager, time};
use super::query::Query;
use super::session::{Answer, Visit};
use super::subnets;
use crate::http::App;
use crate::http::extract::At;
use crate::model::address_map::spaces;
use crate::model::cidr::Cidr;
use crate::model::grant::{Global, Granted, Permission};
use crate::model::id::VpcId;
use crate::model::input::Input;
use crate::model::interface::write_address;
use crate::model::page::Paged;
use crate::model::region::Region;
use crate::model::tag::Tag;
use crate::model::vpc::Vpc;
use crate::rules::address_map::Visible;
use crate::rules::addresses::{self, Usage};
use crate::rules::caller::Caller;
use crate::rules::error::FieldError;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::rules::{self, Error};
use crate::store::vpc_ips::VpcIp;

const LIST: (&str, &str) = ("VPCs", "/vpcs");

pub fn address(id: VpcId) -> String {
    format!("/vpcs/{id}")
}

pub async fn list(State(app): State<App>, visit: Visit, caller: Caller, query: Query) -> Answer {
    let search = Search::read(&query);
    let wanted = search.list();
    let (vpcs, used, may_add) = app
        .read(caller, move |tx, caller| {
            let vpcs = rules::vpcs::list(tx, caller, &wanted)?;
            let used = addresses::used_in_vpcs(tx, &vpcs.items)?;
            Ok((vpcs, used, caller.must_hold(Global::AddVpcs).is_ok()))
        })
        .await?;
    let regions = &app.store().world().policy.regions;
    let body = html! {
        div .title {
            h1 { "VPCs" }
            @if may_add { a .button.main href="/vpcs/new" { "Create VPC" } }
        }
        @if vpcs.results == 0 && search.is_empty() {
            (no_vpcs(may_add))
        } @else {
            (search.form(regions))
            (draw_list(&vpcs, &used, &search))
        }
    };
    Ok(visit.page("VPCs", &[], &body))
}

fn no_vpcs(may_add: bool) -> Markup {
    let text = "A VPC is a private network of your own in one region. Its subnets give your instances addresses that \
                nobody else can reach.";
    match may_add {
        true => empty("No VPCs yet", text, Some(("Create VPC", "/vpcs/new"))),
        false => empty(
            "No VPCs yet",
            "Nobody has granted you a VPC yet. Ask whoever manages your account.",
            None,
        ),
    }
}

/// What of the VPCs is looked for.
struct Search {
    words: String,
    region: String,
    page: Option<String>,
}

impl Search {
    fn read(query: &Query) -> Self {
        Self {
            words: query.text("q").trim().to_owned(),
            region: query.text("region").to_owned(),
            page: Some(query.text("page").to_owned()).filter(|page| !page.is_empty()),
        }
    }

    fn is_empty(&self) -> bool {
        self.words.is_empty() && self.region.is_empty()
    }

    fn list(&self) -> ListRequest {
        let text = |text: &str| Input::Text(text.to_owned());
        let object = |key: &str, value: Input| Input::Object(vec![(key.to_owned(), value)]);
        let contains = |field: &str| object(field, object("+contains", text(&self.words)));
        let mut filter = vec![("+order_by".to_owned(), text("label"))];
        if !self.words.is_empty() {
            let either = ["label", "id", "subnets.label"].map(contains).to_vec();
            filter.push(("+or".to_owned(), Input::List(either)));
        }
        if !self.region.is_empty() {
            filter.push(("region".to_owned(), text(&self.region)));
        }
        ListRequest {
            page: self.page.clone(),
            page_size: Some("50".to_owned()),
            after: None,
            filter: Some(Ok(Input::Object(filter))),
        }
    }

    /// The address of the list as it is searched.
    fn address(&self) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (key, value) in [("q", &self.words), ("region", &self.region)] {
            if !value.is_empty() {
                query.append_pair(key, value);
            }
        }
        let query = query.finish();
        if query.is_empty() {
            "/vpcs".to_owned()
        } else {
            format!("/vpcs?{query}")
        }
    }

    fn form(&self, regions: &[Region]) -> Markup {
        html! {
            form .search role="search" method="get" action="/vpcs" hx-get="/vpcs" hx-target="#list" hx-select="#list"
                hx-swap="outerHTML" hx-replace-url="true" hx-sync="this:replace"
                hx-trigger="submit, input changed delay:250ms from:#q, change from:#region" {
                div .field {
                    label for="q" { "Search" }
                    input #q type="search" name="q" value=(self.words) autocomplete="off" spellcheck="false"
                        placeholder="Label, id or subnet";
                }
                div .field {
                    label for="region" { "Region" }
                    select #region name="region" {
                        option value="" { "All regions" }
                        @for region in regions.iter().filter(|region| region.can(Region::VPCS)) {
                            option value=(region.id) selected[region.id == self.region] { (region.label) " (" (region.id) ")" }
                        }
                    }
                }
                button type="submit" { "Search" }
            }
        }
    }
}

fn draw_list(vpcs: &Paged<Vpc>, used: &[Usage], search: &Search) -> Markup {
    html! {
        div #list {
            @if vpcs.items.is_empty() {
                (empty("Nothing found", "No VPC is like that.", Some(("Show all", "/vpcs"))))
            } @else {
                p .count role="status" { (counted(vpcs.results as usize, "VPC", "VPCs")) }
                table .list {
                    thead { tr {
                        th scope="col" { "Label" } th scope="col" { "Region" } th scope="col" .number { "Subnets" }
                        th scope="col" .number { "Instances" } th scope="col" { "Addresses in use" } th scope="col" { "Changed" }
                    } }
                    tbody {
                        @for (vpc, used) in vpcs.items.iter().zip(used) {
                            tr {
                                th scope="row" { a href=(address(vpc.id)) { (vpc.label.as_str()) } " " span .id { (vpc.id) } }
                                td data-label="Region" { (vpc.region.0) }
                                td .number data-label="Subnets" { (vpc.subnets.len()) }
                                td .number data-label="Instances" { (instances(vpc)) }
                                td data-label="In use" { (used_meter(*used)) }
                                td data-label="Changed" { (time(vpc.updated)) }
                            }
                        }
                    }
                }
                (pager(vpcs, &search.address()))
            }
        }
    }
}

/// How many instances are on a VPC's subnets.
fn instances(vpc: &Vpc) -> usize {
    let uses = vpc.subnets.iter().flat_map(|subnet| &subnet.uses);
    let mut ids: Vec<_> = uses.map(|found| found.instance).collect();
    ids.sort_unstable();
    ids.dedup();
    ids.len()
}

/// The class that colours how full something is.
pub fn level(usage: Usage) -> &'static str {
    match usage.percent() {
        percent if percent >= 90.0 => "full",
        percent if percent >= 60.0 => "much",
        percent if percent > 0.0 => "some",
        _ => "none",
    }
}

/// How much of something is in use, as a bar and in numbers.
pub fn used_meter(usage: Usage) -> Markup {
    html! {
        span .meter {
            svg viewBox="0 0 100 6" preserveAspectRatio="none" aria-hidden="true" focusable="false" {
                rect .track width="100" height="6" {}
                rect .(level(usage)) width=(usage.percent().ceil()) height="6" {}
            }
            span { (number(usage.used)) " of " (number(usage.all)) }
        }
    }
}

pub async fn new(State(app): State<App>, visit: Visit, caller: Caller) -> Answer {
    app.read(caller, |_, caller| caller.must_hold(Global::AddVpcs))
        .await?;
    let mut sent = Sent::default();
    add_row(&app, &mut sent);
    Ok(draw_new(
        &app,
        &visit,
        StatusCode::OK,
        &Typed::refused(sent, Vec::new()),
    ))
}

/// Makes a VPC; or only adds or takes away a row of the form, for those without script.
pub async fn create(State(app): State<App>, visit: Visit, caller: Caller, mut sent: Sent) -> Answer {
    let taken_away = sent.text("remove").parse().ok();
    sent.without_row("subnets", &ROW, taken_away);
    if sent.has("add") || taken_away.is_some() {
        if sent.has("add") {
            add_row(&app, &mut sent);
        }
        return Ok(draw_new(
            &app,
            &visit,
            StatusCode::OK,
            &Typed::refused(sent, Vec::new()),
        ));
    }
    let request = new_request(&sent);
    let made = app
        .write(caller, move |tx, caller| {
            rules::vpcs::create(tx, caller, &request)
        })
        .await;
    match made {
        Ok(vpc) => Ok(done(&address(vpc.id), "vpc-created")),
        Err(Error::Refused(wrong)) => {
            let typed = Typed::refused(sent, wrong);
            Ok(draw_new(&app, &visit, StatusCode::BAD_REQUEST, &typed))
        }
        Err(other) => Err(other.into()),
    }
}

/// What there is to say of a range while it is typed.
pub async fn check(State(app): State<App>, caller: Caller, query: Query) -> Answer {
    let Query(sent) = query;
    let field = format!("subnets[{}].ipv4", sent.text("at"));
    let request = new_request(&sent);
    let checked = app
        .read(caller, move |tx, caller| rules::vpcs::check(tx, caller, &request))
        .await;
    let others: Vec<Cidr> = ranges(&sent)
        .into_iter()
        .filter(|(name, _)| *name != field)
        .map(|(_, range)| range)
        .collect();
    let proposed = rules::subnets::propose(&app.store().world().policy, &others);
    Ok(fragment(&verdict(
        &field,
        sent.text(&field),
        checked.err(),
        proposed,
    )?))
}

/// The names of the fields in a row of the form.
pub const ROW: [&str; 2] = ["label", "ipv4"];

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

fn draw_new(app: &App, visit: &Visit, status: StatusCode, typed: &Typed) -> Response {
    let able = app
        .store()
        .world()
        .policy
        .regions
        .iter()
        .filter(|region| region.can(Region::VPCS));
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
    visit.page_with(status, "Create a VPC", &[LIST], &body)
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

/// The field of a subnet's range, looked at while it is typed.
pub fn range_field(typed: &Typed, name: &str, check: &str) -> Markup {
    let field = Field {
        name,
        label: "IPv4 range",
        code: true,
        most: Some(18),
        check: Some(check),
        ..Field::default()
    };
    forms::line(typed, field)
}

/// What a rule has to say of a range, in a line or two.
pub fn verdict(
    field: &str,
    range: &str,
    wrong: Option<Error>,
    proposed: Option<Cidr>,
) -> Result<Markup, Error> {
    let wrong = match wrong {
        None => Vec::new(),
        Some(Error::Refused(wrong)) => wrong,
        Some(other) => return Err(other),
    };
    let about: Vec<_> = wrong
        .iter()
        .filter(|wrong| wrong.field.as_deref() == Some(field))
        .map(|wrong| wrong.reason.as_str())
        .collect();
    let id = forms::id_of(field);
    Ok(html! {
        @if range.is_empty() {
            @if let Some(proposed) = proposed { p .quiet { (fill(&id, proposed)) } }
        } @else if let (true, Ok(range)) = (about.is_empty(), Cidr::parse(range)) {
            @let assignable = range.assignable();
            p .good { (number(u64::from(assignable.end() - assignable.start()) + 1)) " addresses for instances" }
        } @else {
            p .bad { (about.join(". ")) }
            @if let Some(proposed) = proposed { p .quiet { (fill(&id, proposed)) } }
        }
    })
}

fn fill(id: &str, proposed: Cidr) -> Markup {
    let proposed = proposed.to_string();
    html! { "Free: " button .link type="button" data-fill=(id) data-value=(proposed) { code { (proposed) } } }
}

pub async fn view(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<VpcId>,
    query: Query,
) -> Answer {
    let page = Some(query.text("page").to_owned()).filter(|page| !page.is_empty());
    let shown = app
        .read(caller, move |tx, caller| {
            let vpc = rules::vpcs::view(tx, caller, id)?;
            let wanted = ListRequest {
                page: page.clone(),
                page_size: Some("100".to_owned()),
                ..ListRequest::default()
            };
            Ok(Shown {
                used: addresses::used_in_subnets(tx, &vpc.subnets)?,
                taken: rules::vpc_ips::of_vpc(tx, caller, id, &wanted)?,
                visible: rules::address_map::visible(tx, caller)?,
                may_change: caller.may(tx, Granted::Vpc, id.0, Permission::ReadWrite).is_ok(),
                vpc,
            })
        })
        .await?;
    let forbidden = &app.store().world().policy.forbidden_ranges;
    Ok(visit.page(shown.vpc.label.as_str(), &[LIST], &shown.draw(forbidden)))
}

/// A VPC with all that its page tells.
struct Shown {
    vpc: Vpc,
    used: Vec<Usage>,
    taken: Paged<VpcIp>,
    visible: Visible,
    may_change: bool,
}

impl Shown {
    fn draw(&self, forbidden: &[Cidr]) -> Markup {
        let Shown { vpc, may_change, .. } = self;
        let here = address(vpc.id);
        let all = self.used.iter().copied().fold(Usage::default(), Usage::and);
        html! {
            div .title {
                h1 { (vpc.label.as_str()) }
                @if *may_change { div .actions {
                    a .button.main href=(format!("{here}/subnets/new")) { "Add subnet" }
                    a .button href=(format!("{here}/edit")) { "Edit" }
                    a .button.danger href=(format!("{here}/delete")) { "Delete" }
                } }
            }
            @if !vpc.description.as_str().is_empty() { p .prose { (vpc.description.as_str()) } }
            dl .facts {
                div { dt { "Region" } dd { (vpc.region.0) } }
                div { dt { "Subnets" } dd { (vpc.subnets.len()) } }
                div { dt { "Instances" } dd { (instances(vpc)) } }
                div { dt { "Addresses in use" } dd { (used_meter(all)) } }
                div { dt { "Id" } dd { (vpc.id) } }
                div { dt { "Created" } dd { (time(vpc.created)) } }
                div { dt { "Changed" } dd { (time(vpc.updated)) } }
            }
            @if vpc.subnets.is_empty() {
                @let action = may_change.then(|| format!("{here}/subnets/new"));
                @let text = "A subnet is a range of private addresses. Instances get theirs from it.";
                (empty("No subnets yet", text, action.as_deref().map(|action| ("Add subnet", action))))
            } @else {
                section aria-labelledby="map" { h2 #map { "Address map" } (self.map(forbidden)) }
                section aria-labelledby="subnets" { h2 #subnets { "Subnets" } (self.subnets()) }
                section aria-labelledby="instances" { h2 #instances { "Instances and addresses" } (self.addresses()) }
            }
        }
    }

    fn map(&self, forbidden: &[Cidr]) -> Markup {
        let ranges: Vec<Cidr> = self.vpc.subnets.iter().map(|subnet| subnet.ipv4).collect();
        let shown = self.vpc.subnets.iter().zip(&self.used);
        let block = shown.map(|(subnet, usage)| Block {
            subnet,
            usage: *usage,
            address: subnets::address(subnet),
        });
        let blocks: Vec<Block> = block.collect();
        address_map::vpc(&spaces(&ranges, forbidden), &blocks)
    }

    fn subnets(&self) -> Markup {
        html! {
            table .list {
                thead { tr {
                    th scope="col" { "Label" } th scope="col" { "Range" } th scope="col" .number { "Instances" }
                    th scope="col" { "Addresses in use" } th scope="col" { "Changed" }
                    @if self.may_change { th scope="col" { span .hidden { "Actions" } } }
                } }
                tbody {
                    @for (subnet, used) in self.vpc.subnets.iter().zip(&self.used) {
                        @let here = subnets::address(subnet);
                        tr {
                            th scope="row" { a href=(here) { (subnet.label.as_str()) } " " span .id { (subnet.id) } }
                            td data-label="Range" { code { (subnet.ipv4) } }
                            td .number data-label="Instances" { (subnets::instances(subnet)) }
                            td data-label="In use" { (used_meter(*used)) }
                            td data-label="Changed" { (time(subnet.updated)) }
                            @if self.may_change { td { div .actions {
                                a href=(format!("{here}/edit")) { "Edit" span .hidden { " " (subnet.label.as_str()) } }
                                a href=(format!("{here}/delete")) { "Delete" span .hidden { " " (subnet.label.as_str()) } }
                            } } }
                        }
                    }
                }
            }
        }
    }

    fn addresses(&self) -> Markup {
        let here = address(self.vpc.id);
        let uses = self
            .vpc
            .subnets
            .iter()
            .flat_map(|subnet| subnet.uses.iter().map(move |found| (subnet, found)));
        let uses: HashMap<_, _> = uses
            .map(|(subnet, found)| (found.interface, (subnet, found)))
            .collect();
        html! {
            @if self.taken.items.is_empty() {
                (empty("No instances yet", "No instance has an interface on one of these subnets. Give a config of an instance one, by the API or \
                    a client of it.", None))
            } @else {
                table .list {
                    thead { tr {
                        th scope="col" { "Instance" } th scope="col" { "Address" } th scope="col" { "Subnet" }
                        th scope="col" { "Config" } th scope="col" { "State" }
                    } }
                    tbody {
                        @for taken in &self.taken.items {
                            @let found = uses.get(&taken.interface);
                            tr {
                                th scope="row" {
                                    @match found.filter(|_| self.visible.has(taken.instance)) {
                                        Some((_, found)) => (found.instance_label),
                                        None => "Instance",
                                    }
                                    " " span .id { (taken.instance) }
                                }
                                td data-label="Address" {
                                    code { @match (taken.address, taken.range) {
                                        (Some(address), _) => (write_address(address)),
                                        (None, Some(range)) => (range),
                                        (None, None) => "–",
                                    } }
                                    @if taken.range.is_some() { " " span .tag { "range" } }
                                }
                                td data-label="Subnet" { @if let Some((subnet, _)) = found {
                                    a href=(format!("{}#interface-{}", subnets::address(subnet), taken.interface)) { (subnet.label.as_str()) }
                                } }
                                td data-label="Config" {
                                    // The label of a config often has the instance's in it.
                                    @match found.filter(|_| self.visible.has(taken.instance)) {
                                        Some((_, found)) => (found.config_label),
                                        None => span .id { (taken.config) },
                                    }
                                }
                                td data-label="State" { (state(taken.active)) }
                            }
                        }
                    }
                }
                (pager(&self.taken, &here))
            }
        }
    }
}

pub fn state(active: bool) -> Markup {
    html! { @if active { span .tag.on { "active" } } @else { span .tag { "inactive" } } }
}

pub async fn edit(State(app): State<App>, visit: Visit, caller: Caller, At(id): At<VpcId>) -> Answer {
    let vpc = app
        .read(caller, move |tx, caller| {
            rules::vpcs::load_for(tx, caller, id, Permission::ReadWrite)
        })
        .await?;
    let typed = Typed::proposed(&[
        ("label", vpc.label.as_str()),
        ("description", vpc.description.as_str()),
        (SEEN, &Tag::of(&vpc).to_string()),
    ]);
    Ok(draw_edit(&visit, StatusCode::OK, &vpc, &typed))
}

pub async fn update(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<VpcId>,
    sent: Sent,
) -> Answer {
    let request = sent.request(sent.object(&["label", "description"]));
    let changed = app
        .write(caller.clone(), move |tx, caller| {
            rules::vpcs::update(tx, caller, id, &request)
        })
        .await;
    let (status, typed) = match changed {
        Ok(vpc) => return Ok(done(&address(vpc.id), "vpc-changed")),
        Err(Error::Refused(wrong)) => (StatusCode::BAD_REQUEST, Typed::refused(sent, wrong)),
        Err(Error::Stale) => (StatusCode::PRECONDITION_FAILED, Typed::stale(sent)),
        Err(other) => return Err(other.into()),
    };
    let vpc = app
        .read(caller, move |tx, caller| rules::vpcs::view(tx, caller, id))
        .await?;
    let typed = typed.now(&vpc);
    Ok(draw_edit(&visit, status, &vpc, &typed))
}

fn draw_edit(visit: &Visit, status: StatusCode, vpc: &Vpc, typed: &Typed) -> Response {
    let label = vpc.label.as_str();
    let here = address(vpc.id);
    let body = html! {
        h1 { "Edit " (label) }
        (typed.alert())
        form .card method="post" action=(format!("{here}/edit")) {
            (visit.form_token())
            (typed.seen())
            (label_field(typed, "label", true))
            (forms::lines(typed, DESCRIPTION, 3))
            p .quiet { "The region stays " strong { (vpc.region.0) } "." }
            div .actions {
                button .main type="submit" { "Save" }
                a .button href=(here) { "Cancel" }
            }
        }
    };
    visit.page_with(status, &format!("Edit {label}"), &[LIST, (label, &here)], &body)
}

pub async fn ask_delete(State(app): State<App>, visit: Visit, caller: Caller, At(id): At<VpcId>) -> Answer {
    let (vpc, wrong) = app
        .read(caller, move |tx, caller| {
            let vpc = rules::vpcs::load_for(tx, caller, id, Permission::ReadWrite)?;
            let wrong = refusals(rules::subnets::refuse_if_used(tx, caller, &vpc.subnets))?;
            Ok((vpc, wrong))
        })
        .await?;
    let typed = Typed::refused(Sent::default(), wrong).now(&vpc);
    Ok(draw_delete(&visit, StatusCode::OK, &vpc, &typed))
}

pub async fn delete(
    State(app): State<App>,
    visit: Visit,
    caller: Caller,
    At(id): At<VpcId>,
    sent: Sent,
) -> Answer {
    let vpc = app
        .read(caller.clone(), move |tx, caller| {
            rules::vpcs::load_for(tx, caller, id, Permission::ReadWrite)
        })
        .await?;
    if let Err(wrong) = forms::confirmed(&sent, vpc.label.as_str()) {
        let typed = Typed::refused(sent, vec![wrong]);
        return Ok(draw_delete(&visit, StatusCode::BAD_REQUEST, &vpc, &typed));
    }
    let request = sent.request(Vec::new());
    let deleted = app
        .write(caller, move |tx, caller| {
            rules::vpcs::delete(tx, caller, id, &request)
        })
        .await;
    match deleted {
        Ok(()) => Ok(done("/vpcs", "vpc-deleted")),
        Err(Error::Refused(wrong)) => {
            let typed = Typed::refused(sent, wrong).now(&vpc);
            Ok(draw_delete(&visit, StatusCode::BAD_REQUEST, &vpc, &typed))
        }
        Err(Error::Stale) => {
            let typed = Typed::stale(sent).now(&vpc);
            Ok(draw_delete(&visit, StatusCode::PRECONDITION_FAILED, &vpc, &typed))
        }
        Err(other) => Err(other.into()),
    }
}

fn draw_delete(visit: &Visit, status: StatusCode, vpc: &Vpc, typed: &Typed) -> Response {
    let (label, here) = (vpc.label.as_str(), address(vpc.id));
    let body = html! {
        h1 { "Delete " (label) "?" }
        @if subnets::is_blocked(typed) {
            (subnets::blockers("The VPC cannot be deleted while instances are on its subnets.", &vpc.subnets, typed))
            p { a .button href=(here) { "Back to the VPC" } }
        } @else {
            (typed.alert())
            form .card method="post" action=(format!("{here}/delete")) {
                (visit.form_token())
                (typed.seen())
                p {
                    "This deletes the VPC "
                    @if !vpc.subnets.is_empty() { "with its " strong { (counted(vpc.subnets.len(), "subnet", "subnets")) } " " }
                    "for good."
                }
                (forms::confirm(typed, label))
                div .actions {
                    button .danger type="submit" { "Delete VPC" }
                    a .button href=(here) { "Cancel" }
                }
            }
        }
    };
    visit.page_with(status, &format!("Delete {label}"), &[LIST, (label, &here)], &body)
}

/// The complaints of a rule; anything else that it had to say stays an error.
pub fn refusals<T>(outcome: Result<T, Error>) -> Result<Vec<FieldError>, Error> {
    match outcome {
        Ok(_) => Ok(Vec::new()),
        Err(Error::Refused(wrong)) => Ok(wrong),
        Err(other) => Err(other),
    }
}

pub const DESCRIPTION: Field = Field {
    name: "description",
    label: "Description",
    hint: "",
    optional: true,
    autofocus: false,
    code: false,
    most: Some(255),
    check: None,
};

/// The field of a VPC's or a subnet's label.
pub fn label_field(typed: &Typed, name: &str, autofocus: bool) -> Markup {
    let field = Field {
        name,
        label: "Label",
        hint: "Letters, digits and single dashes, at most 64.",
        autofocus,
        most: Some(64),
        ..Field::default()
    };
    forms::line(typed, field)
}
