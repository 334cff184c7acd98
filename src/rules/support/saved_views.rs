//! Saved views of the queue (decision 0041). Staff see their own views and the shared ones.

use crate::model::id::SavedViewId;
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason};
use crate::model::saved_view::{QueueFilters, SavedView, ViewLabel};
use crate::rules::agent::Agent;
use crate::rules::error::{Error, Result};
use crate::rules::form::Form;
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::store::{self, ReadTx, WriteTx};

/// The maximum number of views of a member of staff.
const MAX_VIEWS: i64 = 50;

pub fn list(tx: &mut ReadTx, agent: &Agent, list: &ListRequest) -> Result<Paged<SavedView>> {
    let query = list.read(tx.policy(), &store::saved_views::FIELDS)?;
    Ok(store::saved_views::list(tx, agent.user, &query)?)
}

pub fn create(tx: &mut WriteTx, agent: &Agent, request: &Request) -> Result<SavedView> {
    let mut form = request.form()?;
    let label = form.required("label", ViewLabel::parse);
    let is_shared = form.boolean("shared").unwrap_or(false);
    let filters = form.within("filters", read_filters).unwrap_or_default();
    if let Some(label) = &label
        && store::saved_views::has_label(tx, agent.user, label)?
    {
        let text = "Label must be unique among your views and the shared views";
        form.refuse("label", Reason::new(Code::LabelTaken, text));
    }
    if store::saved_views::count(tx, agent.user)? >= MAX_VIEWS {
        let text = format!("You may save at most {MAX_VIEWS} views; delete some first");
        form.refuse_whole(Reason::new(Code::QuotaExceeded, text));
    }
    let label = form.finish(|| label)?;
    let owner = (agent.user, agent.username.as_str());
    Ok(store::saved_views::insert(
        tx,
        owner,
        (&label, is_shared),
        &filters,
    )?)
}

fn read_filters(form: &mut Form) -> QueueFilters {
    let values =
        QueueFilters::NAMES.map(|name| form.optional(name, |raw| QueueFilters::parse_value(name, raw)));
    QueueFilters::new(values)
}

pub fn view(tx: &mut ReadTx, agent: &Agent, id: SavedViewId) -> Result<SavedView> {
    store::saved_views::find(tx, agent.user, id)?.ok_or(Error::NotFound)
}

/// Deletes a view of the agent, or a shared view.
pub fn delete(tx: &mut WriteTx, agent: &Agent, id: SavedViewId, request: &Request) -> Result<()> {
    let saved = view(tx, agent, id)?;
    request.check_if_match(&saved)?;
    request.require_valid_body()?;
    Ok(store::saved_views::delete(tx, id)?)
}
