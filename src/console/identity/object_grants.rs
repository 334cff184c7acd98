//! The list of an account's objects on the grants page of a user: filter, selection and rows.

use maud::{Markup, html};

use super::grant_words::{LEVELS, level, level_with_word, url_word, word};
use super::shown_values;
use crate::console::forms::{FormData, FormState, VERSION_FIELD};
use crate::console::layout::{empty_state, number, pagination, pluralize};
use crate::console::query::{MAX_SEARCH_CHARS, list_page};
use crate::model::grant::{GrantKind, ObjectGrant};
use crate::model::input::Input;
use crate::model::page::Paged;
use crate::rules::conditions::Condition;
use crate::rules::lists::ListRequest;

/// The form that sets one level for several objects. The checkboxes of the rows belong to it.
const BULK_FORM: &str = "set-level";
/// The form of the page. The radio buttons of the rows belong to it.
pub const GRANTS_FORM: &str = "grants";
/// The hidden field with the levels that the page showed.
const SHOWN: &str = "shown";
const KINDS: [(GrantKind, &str, &str); 2] = [
    (GrantKind::Vpc, "VPC", "VPCs"),
    (GrantKind::Linode, "instance", "Instances"),
];

pub fn kind_name(kind: GrantKind) -> &'static str {
    let found = KINDS.iter().find(|(other, _, _)| *other == kind);
    found.map_or("", |(_, name, _)| name)
}

/// The name of the field with the level of an object.
pub fn field(object: &ObjectGrant) -> String {
    format!("{}.{}", object.kind.word(), object.grant.id)
}

/// The filter of the list, from a URL or from hidden fields.
pub struct GrantFilter {
    text: String,
    kind: String,
    level: String,
    page: String,
}

impl GrantFilter {
    pub fn read(data: &FormData) -> Self {
        let text = data.text("q").trim().chars().filter(|c| !c.is_control());
        Self {
            text: text.take(MAX_SEARCH_CHARS).collect(),
            kind: data.text("kind").to_owned(),
            level: data.text("level").to_owned(),
            page: data.text("page").to_owned(),
        }
    }

    pub fn is_empty(&self) -> bool {
        self.fields().iter().all(|(_, value)| value.is_empty())
    }

    fn fields(&self) -> [(&'static str, &str); 3] {
        [("q", &self.text), ("kind", &self.kind), ("level", &self.level)]
    }

    /// The objects that match the filter, on the page of the URL.
    pub fn list_request(&self) -> ListRequest {
        let mut only = Vec::new();
        if !self.text.is_empty() {
            only.push(Condition::contained_in(["label", "id"], &self.text));
        }
        if !self.kind.is_empty() {
            only.push(Condition::equal("kind", self.kind.as_str()));
        }
        if !self.level.is_empty() {
            let value = match level_with_word(&self.level) {
                Some(None) => Input::Null,
                _ => self.level.as_str().into(),
            };
            only.push(Condition::equal("permissions", value));
        }
        let list = list_page(&self.page);
        ListRequest { only, ..list }
    }

    /// The URL of a page with this filter, without the page number.
    pub fn url(&self, page_url: &str) -> String {
        let mut query = form_urlencoded::Serializer::new(String::new());
        for (name, value) in self.fields() {
            if !value.is_empty() {
                query.append_pair(name, value);
            }
        }
        match query.finish() {
            query if query.is_empty() => page_url.to_owned(),
            query => format!("{page_url}?{query}"),
        }
    }

    /// The URL of the list on the page that was open.
    pub fn url_of_page(&self, page_url: &str) -> String {
        let url = self.url(page_url);
        let separator = if url.contains('?') { '&' } else { '?' };
        match self.page.parse::<i64>() {
            Ok(page) if page > 1 => format!("{url}{separator}page={page}"),
            _ => url,
        }
    }

    /// The filter as hidden fields of the surrounding form.
    pub fn hidden_fields(&self) -> Markup {
        self.hidden_fields_of(None)
    }

    /// The filter as hidden fields of the form with an ID.
    fn hidden_fields_of(&self, form: Option<&str>) -> Markup {
        html! {
            @for (name, value) in self.fields() {
                @if !value.is_empty() { input type="hidden" form=[form] name=(name) value=(value); }
            }
            @if !self.page.is_empty() { input type="hidden" form=[form] name="page" value=(self.page); }
        }
    }

    fn form(&self, page_url: &str) -> Markup {
        html! {
            form .search role="search" aria-label="Objects" method="get" action=(page_url) hx-get=(page_url) hx-target="#list" hx-select="#list"
                hx-swap="outerHTML" hx-replace-url="true" hx-sync="this:replace"
                hx-trigger="submit, input changed delay:250ms from:#q, change from:#kind, change from:#level" {
                div .field {
                    label for="q" { "Search" }
                    input #q type="search" name="q" value=(self.text) autocomplete="off" spellcheck="false"
                        maxlength=(MAX_SEARCH_CHARS) placeholder="Label or ID";
                }
                div .field {
                    label for="kind" { "Kind" }
                    select #kind name="kind" {
                        option value="" { "All kinds" }
                        @for (kind, _, plural) in KINDS { option value=(kind.word()) selected[kind.word() == self.kind] { (plural) } }
                    }
                }
                div .field {
                    label for="level" { "Access" }
                    select #level name="level" {
                        option value="" { "Any" }
                        @for permission in LEVELS { option value=(url_word(permission)) selected[url_word(permission) == self.level] { (level(permission)) } }
                    }
                }
                button type="submit" { "Filter" }
            }
        }
    }
}

/// The condition that an object is one of those whose fields are in a form.
pub fn submitted(data: &FormData) -> Condition {
    let of_kind = |(kind, _, _): (GrantKind, &str, &str)| {
        let ids = submitted_ids(data, kind).into_iter();
        let is_one = Condition::Any(ids.map(|id| Condition::equal("id", id)).collect());
        Condition::All(vec![Condition::equal("kind", kind.word()), is_one])
    };
    Condition::Any(KINDS.map(of_kind).to_vec())
}

/// The IDs of the objects of a kind whose fields are in a form.
pub fn submitted_ids(data: &FormData, kind: GrantKind) -> Vec<i64> {
    let prefix = format!("{}.", kind.word());
    let names = data.names_with_prefix(&prefix).into_iter();
    names
        .filter_map(|name| name[prefix.len()..].parse().ok())
        .collect()
}

/// The filter, the bulk change and one page of the objects. `url` is the URL of the grants page.
pub fn section(
    objects: &Paged<ObjectGrant>,
    filter: &GrantFilter,
    form_state: &FormState,
    url: &str,
) -> Markup {
    html! {
        section aria-labelledby="objects" {
            h2 #objects { "VPCs and instances" }
            @if objects.results > 0 || !filter.is_empty() { (filter.form(url)) }
            div #list {
                @if objects.items.is_empty() && objects.results > 0 {
                    (empty_state("This page is empty", "The list no longer has this many pages.", Some(("Go to the first page", &filter.url(url)))))
                } @else if objects.items.is_empty() && filter.is_empty() {
                    p .quiet { "This account has no VPCs or instances yet." }
                } @else if objects.items.is_empty() {
                    (empty_state("No results", "No VPCs or instances match the filter.", Some(("Clear filter", url))))
                } @else {
                    p .count role="status" { (pluralize(objects.results as usize, "object", "objects")) }
                    (bulk_form(objects, filter, url))
                    (rows(objects, filter, form_state))
                    (pagination(objects, &filter.url(url)))
                }
            }
        }
    }
}

fn bulk_form(objects: &Paged<ObjectGrant>, filter: &GrantFilter, url: &str) -> Markup {
    html! {
        form #(BULK_FORM) .inline.bulk method="get" action=(format!("{url}/set")) {
            (filter.hidden_fields())
            label for="to" { "Set access to" }
            select #to name="to" {
                @for permission in LEVELS { option value=(url_word(permission)) { (level(permission)) } }
            }
            button type="submit" name="apply" value="selected" { "Apply to selected" }
            button type="submit" name="apply" value="all" { "Apply to all " (number(objects.results.unsigned_abs())) " results" }
        }
    }
}

/// After a conflict, a row that the user did not edit shows the current level.
pub fn discard_unedited(data: &mut FormData) {
    for name in shown_values::unedited(data, SHOWN) {
        data.remove(&name);
    }
}

/// The rows of one page.
fn rows(objects: &Paged<ObjectGrant>, filter: &GrantFilter, form_state: &FormState) -> Markup {
    let levels = objects
        .items
        .iter()
        .map(|object| (field(object), word(object.grant.permission)));
    html! {
        input type="hidden" form=(GRANTS_FORM) name=(VERSION_FIELD) value=(form_state.data.text(VERSION_FIELD));
        (shown_values::hidden_field(GRANTS_FORM, SHOWN, levels))
        (filter.hidden_fields_of(Some(GRANTS_FORM)))
        table .matrix.picked {
            thead { tr {
                th scope="col" { span .hidden { "Selected" } }
                th scope="col" { "Object" }
                @for permission in LEVELS { th scope="col" { (level(permission)) } }
            } }
            tbody { @for object in &objects.items { (row(object, form_state)) } }
        }
    }
}

fn row(object: &ObjectGrant, form_state: &FormState) -> Markup {
    let (name, label) = (field(object), object.grant.label.as_str());
    let current = word(object.grant.permission);
    let chosen = form_state.data.get(&name).unwrap_or(current);
    html! {
        tr {
            td { input type="checkbox" form=(BULK_FORM) name=(name) aria-label={ "Select " (label) }; }
            th scope="row" {
                (label) " " span .quiet.small { (kind_name(object.kind)) } " " span .id { (object.grant.id) }
                // After a conflict, the form has the input of the user.
                @if chosen != current { p .hint { "Now: " (level(object.grant.permission)) } }
            }
            (radios(&name, chosen))
        }
    }
}

/// One radio button for each level.
pub fn radios(name: &str, chosen: &str) -> Markup {
    html! {
        @for permission in LEVELS {
            @let word = word(permission);
            td { label { input type="radio" form=(GRANTS_FORM) name=(name) value=(word) checked[chosen == word]; span { (level(permission)) } } }
        }
    }
}
