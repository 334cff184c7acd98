//! Parses the fields of a plan that staff can set.

use crate::model::input::Input;
use crate::model::plan::{Plan, Price, RegionPrice};
use crate::model::reason::{Code, Reason};
use crate::model::text::Line;
use crate::rules::form::{Form, one_of};

pub type PlanLabel = Line<64>;

/// The highest price.
pub const MAX_PRICE_DOLLARS: f64 = 1e9;
/// The maximum number of regions with other prices.
pub const MAX_REGION_PRICES: usize = 100;
/// The maximum of all sizes: a petabyte in megabytes.
const MAX_SIZE: i64 = 1_000_000_000;

pub struct PlanChange {
    label: Option<PlanLabel>,
    class: Option<&'static str>,
    memory: Option<i64>,
    pub disk: Option<i64>,
    vcpus: Option<i64>,
    transfer: Option<i64>,
    gpus: Option<i64>,
    network_out: Option<i64>,
    hourly: Option<Price>,
    monthly: Option<Price>,
    region_prices: Option<Vec<RegionPrice>>,
}

impl PlanChange {
    pub fn read(form: &mut Form, is_new: bool) -> Self {
        let label = form.optional("label", PlanLabel::parse);
        let class = form.optional("class", |raw| one_of(raw, &Plan::CLASSES));
        let mut required = |name| match is_new {
            true => form.required_integer(name),
            false => form.integer(name),
        };
        let sizes = ["memory", "disk", "vcpus"].map(|name| (name, required(name)));
        let [memory, disk, vcpus] = sizes.map(|(name, size)| in_range(form, name, size, 1));
        let [transfer, gpus, network_out] = ["transfer", "gpus", "network_out"].map(|name| {
            let number = form.integer(name);
            in_range(form, name, number, 0)
        });
        let prices = form.within("price", |form| (price(form, "hourly"), price(form, "monthly")));
        let (hourly, monthly) = prices.unwrap_or_default();
        Self {
            label,
            class,
            memory,
            disk,
            vcpus,
            transfer,
            gpus,
            network_out,
            hourly: hourly.or_else(|| monthly.filter(|_| is_new).map(default_hourly)),
            monthly,
            region_prices: region_prices(form),
        }
    }

    pub fn apply(self, plan: &mut Plan) {
        if let Some(label) = self.label {
            label.as_str().clone_into(&mut plan.label);
        }
        if let Some(class) = self.class {
            class.clone_into(&mut plan.class);
        }
        let set = |number: &mut i64, change: Option<i64>| *number = change.unwrap_or(*number);
        set(&mut plan.memory, self.memory);
        set(&mut plan.disk, self.disk);
        set(&mut plan.vcpus, self.vcpus);
        set(&mut plan.transfer, self.transfer);
        set(&mut plan.gpus, self.gpus);
        set(&mut plan.network_out, self.network_out);
        plan.prices.hourly = self.hourly.unwrap_or(plan.prices.hourly);
        plan.prices.monthly = self.monthly.unwrap_or(plan.prices.monthly);
        if let Some(region_prices) = self.region_prices {
            plan.prices.regions = region_prices;
        }
    }
}

fn in_range(form: &mut Form, name: &'static str, number: Option<i64>, min: i64) -> Option<i64> {
    let number = number?;
    if !(min..=MAX_SIZE).contains(&number) {
        let text = format!("Must be {min} to {MAX_SIZE}");
        form.refuse(name, Reason::new(Code::OutOfRange, text));
    }
    Some(number)
}

/// A price in dollars.
fn price(form: &mut Form, name: &'static str) -> Option<Price> {
    let dollars = match form.value(name)? {
        Input::Integer(dollars) => *dollars as f64,
        Input::Number(dollars) => *dollars,
        _ => {
            form.refuse(form.path(name), Reason::new(Code::WrongType, "Must be a number"));
            return None;
        }
    };
    if !(0.0..=MAX_PRICE_DOLLARS).contains(&dollars) {
        let text = format!("Must be 0 to {MAX_PRICE_DOLLARS}");
        form.refuse(form.path(name), Reason::new(Code::OutOfRange, text));
        return None;
    }
    Some(Price::from_dollars(dollars))
}

/// The hourly price of a new plan that has only a monthly price: 0.15% of it, as in the public price list.
fn default_hourly(monthly: Price) -> Price {
    Price((monthly.0 * 15 + 5_000) / 10_000)
}

/// The prices in regions where they differ. The list replaces the earlier list.
fn region_prices(form: &mut Form) -> Option<Vec<RegionPrice>> {
    let is_set = form.has("region_prices");
    let prices = form.first("region_prices", MAX_REGION_PRICES, |form| {
        let region = form.required("id", Line::<64>::parse);
        let (hourly, monthly) = (price(form, "hourly"), price(form, "monthly"));
        Some(RegionPrice {
            region: region?.as_str().to_owned(),
            hourly: hourly.unwrap_or(Price::ZERO),
            monthly: monthly.unwrap_or(Price::ZERO),
        })
    });
    if form.count("region_prices") > MAX_REGION_PRICES {
        let text = format!("Must have at most {MAX_REGION_PRICES} regions");
        form.refuse("region_prices", Reason::new(Code::OutOfRange, text));
    }
    is_set.then(|| prices.into_iter().flatten().flatten().collect())
}
