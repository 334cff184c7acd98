//! Regions as the provider manages them: add, change and retire (decision 0043).

use crate::model::input::Input;
use crate::model::page::Paged;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::region::{PlacementGroupLimits, Region};
use crate::model::stored_catalog::{CatalogId, StoredCatalog};
use crate::model::text::Line;
use crate::model::time::Time;
use crate::rules::error::{Error, Result};
use crate::rules::form::{Form, one_of};
use crate::rules::lists::ListRequest;
use crate::rules::request::Request;
use crate::store::filter::{Field, Kind};
use crate::store::regions::RegionUsage;
use crate::store::value::Value;
use crate::store::{self, ReadTx, WriteTx};

pub type RegionLabel = Line<64>;

/// A region with the number of its objects.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct RegionDetails {
    pub region: Region,
    pub usage: RegionUsage,
    /// The time of the last change; `None` if the region is as in the settings.
    pub updated: Option<Time>,
}

static FIELDS: [Field; 9] = [
    Field::new("id", Kind::Text, ""),
    Field::new("label", Kind::Text, ""),
    Field::new("country", Kind::Text, ""),
    Field::new("status", Kind::Text, ""),
    Field::new("retired", Kind::Boolean, ""),
    Field::new("instances", Kind::Integer, ""),
    Field::new("vpcs", Kind::Integer, ""),
    Field::new("hosts", Kind::Integer, ""),
    Field::new("updated", Kind::Time, ""),
];

pub fn list(tx: &mut ReadTx, list: &ListRequest) -> Result<Paged<RegionDetails>> {
    let query = list.read(tx.policy(), &FIELDS)?;
    Ok(query.select(&all(tx)?, field))
}

pub fn view(tx: &mut ReadTx, id: &str) -> Result<RegionDetails> {
    let found = all(tx)?.into_iter().find(|details| details.region.id == id);
    found.ok_or(Error::NotFound)
}

/// Adds a region. Without capabilities, it has all that Garth implements.
pub fn create(tx: &mut WriteTx, request: &Request) -> Result<RegionDetails> {
    let mut form = request.form()?;
    let id = form.required("id", CatalogId::parse);
    refuse_taken(tx, &mut form, id.as_ref())?;
    let change = RegionChange::read(&mut form, None);
    let id = form.finish(|| id)?.into_string();
    let mut region = Region {
        label: id.clone(),
        id,
        country: String::new(),
        capabilities: Region::all_capabilities(),
        status: Region::STATUSES[0].to_owned(),
        resolvers_ipv4: Region::RESOLVERS_IPV4.to_owned(),
        resolvers_ipv6: Region::RESOLVERS_IPV6.to_owned(),
        placement_group_limits: PlacementGroupLimits::NONE,
        retired: false,
    };
    change.apply(&mut region);
    store::regions::save(tx, &region)?;
    view(tx, &region.id)
}

/// Changes a region of the settings or a stored region. The result is stored completely.
pub fn update(tx: &mut WriteTx, id: &str, request: &Request) -> Result<RegionDetails> {
    let mut region = load(tx, id, request)?;
    let mut form = request.form()?;
    let change = RegionChange::read(&mut form, Some(&region));
    form.finish(|| Some(()))?;
    change.apply(&mut region);
    store::regions::save(tx, &region)?;
    view(tx, id)
}

/// Refuses new objects in the region. Existing objects remain.
pub fn retire(tx: &mut WriteTx, id: &str, request: &Request) -> Result<RegionDetails> {
    set_retired(tx, id, request, true)
}

/// Permits new objects in a retired region again.
pub fn reactivate(tx: &mut WriteTx, id: &str, request: &Request) -> Result<RegionDetails> {
    set_retired(tx, id, request, false)
}

fn set_retired(tx: &mut WriteTx, id: &str, request: &Request, retired: bool) -> Result<RegionDetails> {
    let mut region = load(tx, id, request)?;
    request.require_valid_body()?;
    if region.retired == retired {
        let text = match retired {
            true => "The region is already retired",
            false => "The region is not retired",
        };
        return Err(Error::refused(Code::RetiredState, text));
    }
    region.retired = retired;
    store::regions::save(tx, &region)?;
    view(tx, id)
}

/// Loads a region for a change. The number of its objects does not matter for `If-Match`.
fn load(tx: &mut ReadTx, id: &str, request: &Request) -> Result<Region> {
    let details = view(tx, id)?;
    request.check_if_match_or_stable(&details, &details.region)?;
    Ok(details.region)
}

/// All regions, as this transaction sees them. The policy may be older or newer.
fn all(tx: &mut ReadTx) -> Result<Vec<RegionDetails>> {
    let stored = store::regions::list(tx)?;
    let mut usage = store::regions::usage(tx)?;
    let catalog = StoredCatalog {
        regions: stored.iter().map(|(region, _)| region.clone()).collect(),
        plans: Vec::new(),
    };
    let regions = tx.policy().with_stored(&catalog).regions.into_iter();
    let details = regions.map(|region| RegionDetails {
        usage: usage.remove(&region.id).unwrap_or_default(),
        updated: stored
            .iter()
            .find(|(stored, _)| stored.id == region.id)
            .map(|(_, updated)| *updated),
        region,
    });
    Ok(details.collect())
}

fn refuse_taken(tx: &mut ReadTx, form: &mut Form, id: Option<&CatalogId>) -> Result<()> {
    if let Some(id) = id
        && all(tx)?.iter().any(|details| details.region.id == id.as_str())
    {
        form.refuse("id", Reason::new(Code::IdTaken, "A region has this ID"));
    }
    Ok(())
}

/// The fields of a region that staff can set.
struct RegionChange {
    label: Option<RegionLabel>,
    country: Option<String>,
    capabilities: Option<Vec<String>>,
    status: Option<&'static str>,
}

impl RegionChange {
    /// `current` is the region before the change; `None` for a new region.
    fn read(form: &mut Form, current: Option<&Region>) -> Self {
        let label = form.optional("label", RegionLabel::parse);
        let country = match current {
            None => form.required("country", parse_country),
            Some(_) => form.optional("country", parse_country),
        };
        let held = current.map(|region| region.capabilities.as_slice());
        let held = held.unwrap_or_default();
        let capabilities = form.values("capabilities", "a string", |input| match input {
            Input::Text(text) if held.contains(text) => Some(Ok(text.clone())),
            Input::Text(text) => Some(one_of(text, &Region::known_capabilities()).map(str::to_owned)),
            _ => None,
        });
        Self {
            label,
            country,
            capabilities,
            status: form.optional("status", |raw| one_of(raw, &Region::STATUSES)),
        }
    }

    fn apply(self, region: &mut Region) {
        if let Some(label) = self.label {
            label.as_str().clone_into(&mut region.label);
        }
        if let Some(country) = self.country {
            region.country = country;
        }
        if let Some(mut capabilities) = self.capabilities {
            let mut distinct = std::collections::HashSet::new();
            capabilities.retain(|capability| distinct.insert(capability.clone()));
            region.capabilities = capabilities;
        }
        if let Some(status) = self.status {
            status.clone_into(&mut region.status);
        }
    }
}

fn parse_country(raw: &str) -> Result<String, Reasons> {
    match raw.len() == 2 && raw.bytes().all(|byte| byte.is_ascii_lowercase()) {
        true => Ok(raw.to_owned()),
        false => {
            let text = "Must be a country code of two lowercase letters, such as us";
            Err(vec![Reason::new(Code::ChoiceInvalid, text)])
        }
    }
}

fn field<'a>(details: &'a RegionDetails, name: &str) -> Value<'a> {
    let region = &details.region;
    match name {
        "id" => Value::from(region.id.as_str()),
        "label" => Value::from(region.label.as_str()),
        "country" => Value::from(region.country.as_str()),
        "status" => Value::from(region.status.as_str()),
        "retired" => Value::from(region.retired),
        "instances" => Value::from(details.usage.instances),
        "vpcs" => Value::from(details.usage.vpcs),
        "hosts" => Value::from(details.usage.hosts),
        _ => Value::from(details.updated),
    }
}
