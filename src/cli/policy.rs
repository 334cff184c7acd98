//! The provider's policy, derived from the settings.

use anyhow::{Context, bail, ensure};

use super::arguments::parse_with;
use super::outgoing_mail;
use super::settings::{
    ImageSettings, MAX_ATTACHMENT_BYTES, Profile, RegionPriceSettings, RegionSettings, Reopen, Settings,
    TypeSettings,
};
use crate::model::cidr::{Cidr, Cidr6};
use crate::model::image::{self, Image, ImageState};
use crate::model::ip::Hostname;
use crate::model::ipv6_pool;
use crate::model::plan::{self, Plan, Price, PriceList, RegionPrice};
use crate::model::policy::{Ipv6Policy, MailPolicy, Oauth, Policy, Quota, Support};
use crate::model::region::{self, PlacementGroupLimits, Region};
use crate::model::reply_address::MailAddress;
use crate::model::target::Targets;
use crate::model::time::Time;
use crate::model::user::Email;
use crate::rules::default_ranges;

/// Default total size of an account's attachments: 10 GiB.
const DEFAULT_ATTACHMENT_BYTES: i64 = 10 << 30;

/// The policy that the rules apply.
pub fn policy_of(settings: &Settings) -> anyhow::Result<Policy> {
    let (regions, plans, images) = catalog_of(settings)?;
    let page_size_min = settings.page_size_min.unwrap_or(default_value(settings, 1, 25));
    ensure!(
        (1..=500).contains(&page_size_min),
        "page_size_min: must be 1 to 500, not {page_size_min}"
    );
    let event_days = settings.event_days.unwrap_or(90);
    ensure!(
        (1..=36500).contains(&event_days),
        "event_days: must be 1 to 36500, not {event_days}"
    );
    let settle_ms = settings.compute.settle_ms.unwrap_or(0);
    ensure!(
        (0..=86_400_000).contains(&settle_ms),
        "compute.settle_ms: must be 0 to 86400000, not {settle_ms}"
    );
    let forbidden_ranges = settings.forbidden_ranges.as_deref();
    let forbidden_ranges = ranges("forbidden_ranges", forbidden_ranges, &["192.168.128.0/17"])?;
    Ok(Policy {
        regions,
        plans,
        images,
        public_ranges: public_ranges_of(settings)?,
        additional_addresses: additional_addresses_of(settings)?,
        rdns_domain: rdns_domain_of(settings)?,
        settle_ms,
        default_ranges: default_ranges::without_forbidden(&forbidden_ranges),
        forbidden_ranges,
        ipv6: ipv6_of(settings)?,
        quota: quota_of(settings)?,
        page_size_min,
        wire_extras: settings.wire_extras.unwrap_or(true),
        event_days,
        support: support_of(settings)?,
        mail: mail_of(settings)?,
        outgoing_mail: outgoing_mail::policy_of(settings)?,
        oauth: Oauth {
            implicit: settings.oauth.implicit.unwrap_or(false),
            require_pkce: settings.oauth.require_pkce.unwrap_or(false),
        },
    })
}

/// The default of a setting. The profile `upstream` selects the default of the public service.
fn default_value(settings: &Settings, garth_default: i64, public_default: i64) -> i64 {
    match settings.profile {
        Some(Profile::Upstream) => public_default,
        _ => garth_default,
    }
}

/// The regions, plans and images.
fn catalog_of(settings: &Settings) -> anyhow::Result<(Vec<Region>, Vec<Plan>, Vec<Image>)> {
    let mut regions = match &settings.regions {
        None => region::built_in(settings.profile == Some(Profile::Upstream)),
        Some(regions) => regions.iter().map(region_of).collect::<anyhow::Result<_>>()?,
    };
    for added in settings.region_capabilities.iter().flatten() {
        for region in regions.iter_mut().filter(|region| !region.has_capability(added)) {
            region.capabilities.push(added.clone());
        }
    }
    ensure!(!regions.is_empty(), "regions: at least one is required");
    let pool = ipv6_of(settings)?.pool;
    for region in &mut regions {
        region.limit_to_pool(pool.map(Cidr6::prefix));
    }
    let plans = match &settings.types {
        None => plan::built_in(),
        Some(types) => types.iter().map(plan_of).collect::<anyhow::Result<_>>()?,
    };
    let images = match &settings.images {
        None => image::built_in(),
        Some(images) => images.iter().map(image_of).collect::<anyhow::Result<_>>()?,
    };
    unique("regions", regions.iter().map(|region| region.id.as_str()))?;
    unique("types", plans.iter().map(|plan| plan.id.as_str()))?;
    unique("images", images.iter().map(|image| image.id.as_str()))?;
    Ok((regions, plans, images))
}

fn quota_of(settings: &Settings) -> anyhow::Result<Quota> {
    let limits = &settings.quota;
    let quota = Quota {
        vpcs_per_region: limits
            .vpcs_per_region
            .unwrap_or(default_value(settings, 1000, 10)),
        subnets_per_vpc: limits
            .subnets_per_vpc
            .unwrap_or(default_value(settings, 1000, 10)),
        attachment_bytes: limits.attachment_bytes.unwrap_or(DEFAULT_ATTACHMENT_BYTES),
    };
    for (name, limit) in [
        ("attachment_bytes", quota.attachment_bytes),
        ("vpcs_per_region", quota.vpcs_per_region),
        ("subnets_per_vpc", quota.subnets_per_vpc),
    ] {
        ensure!(limit >= 0, "quota.{name}: must be 0 or more, not {limit}");
    }
    Ok(quota)
}

fn public_ranges_of(settings: &Settings) -> anyhow::Result<Vec<Cidr>> {
    let configured = settings.compute.public_ranges.as_deref();
    let public_ranges = ranges("compute.public_ranges", configured, &DOCUMENTATION_RANGES)?;
    ensure!(
        !public_ranges.is_empty(),
        "compute.public_ranges: at least one is required"
    );
    for range in &public_ranges {
        ensure!(
            range.prefix() <= 30,
            "compute.public_ranges: {range} is too small: must be /30 or larger"
        );
    }
    Ok(public_ranges)
}

fn ipv6_of(settings: &Settings) -> anyhow::Result<Ipv6Policy> {
    let hours = settings.network.ipv6_retention_hours.unwrap_or(24);
    ensure!(
        (0..=87_600).contains(&hours),
        "network.ipv6_retention_hours: must be 0 to 87600, not {hours}"
    );
    let pool = settings.network.ipv6_pool.as_deref().unwrap_or(DEFAULT_IPV6_POOL);
    let pool = match pool {
        "" => None,
        raw => {
            let parsed = parse_with(ipv6_pool::parse)(raw);
            Some(parsed.map_err(|reason| anyhow::anyhow!("network.ipv6_pool: {raw}: {reason}"))?)
        }
    };
    Ok(Ipv6Policy {
        pool,
        retention_seconds: hours * 3600,
    })
}

fn additional_addresses_of(settings: &Settings) -> anyhow::Result<i64> {
    let limit = settings.compute.additional_addresses.unwrap_or(16);
    ensure!(
        (0..=1_000_000).contains(&limit),
        "compute.additional_addresses: must be 0 to 1000000, not {limit}"
    );
    Ok(limit)
}

fn rdns_domain_of(settings: &Settings) -> anyhow::Result<Option<String>> {
    let public_default = (settings.profile == Some(Profile::Upstream)).then_some("ip.linodeusercontent.com");
    let domain = settings.compute.rdns_domain.as_deref().or(public_default);
    let Some(domain) = domain.filter(|domain| !domain.is_empty()) else {
        return Ok(None);
    };
    // The default name of an address is one more label, followed by this domain. Check the longest possible
    // name.
    let longest = format!("255-255-255-255.{domain}");
    parse_with(Hostname::parse)(&longest)
        .map_err(|reason| anyhow::anyhow!("compute.rdns_domain: {domain}: {reason}"))?;
    Ok(Some(domain.to_owned()))
}

fn support_of(settings: &Settings) -> anyhow::Result<Support> {
    let (desk, attachments, provider) = (&settings.desk, &settings.attachments, &settings.provider);
    let name = provider.name.clone().unwrap_or_else(|| "Support".to_owned());
    ensure!(
        (1..=64).contains(&name.chars().count())
            && !name.chars().any(char::is_control)
            && !name.trim().is_empty(),
        "provider.name: must be one line of 1 to 64 characters, not blank"
    );
    if let Some(email) = provider.email.as_deref().filter(|email| !email.is_empty()) {
        parse_with(Email::parse)(email)
            .map_err(|reason| anyhow::anyhow!("provider.email: {email}: {reason}"))?;
    }
    let max_bytes = attachments.max_bytes.unwrap_or(5 * 1024 * 1024);
    ensure!(
        (1..=MAX_ATTACHMENT_BYTES).contains(&max_bytes),
        "attachments.max_bytes: must be 1 to {MAX_ATTACHMENT_BYTES}, not {max_bytes}"
    );
    let scrub_days = attachments.scrub_days.unwrap_or(0);
    ensure!(
        (0..=3650).contains(&scrub_days),
        "attachments.scrub_days: must be 0 to 3650, not {scrub_days}"
    );
    let per_ticket = attachments.max_per_ticket.unwrap_or(20);
    ensure!(
        (0..=10_000).contains(&per_ticket),
        "attachments.max_per_ticket: must be 0 to 10000, not {per_ticket}"
    );
    Ok(Support {
        provider: name,
        provider_email: provider.email.clone().unwrap_or_default(),
        reopen_days: match desk.reopen {
            None | Some(Reopen::Never) => None,
            Some(Reopen::Days(days)) => Some(days),
        },
        strict_entities: desk.strict_entities.unwrap_or(false),
        attachment_max_bytes: max_bytes,
        attachments_per_ticket: per_ticket,
        targets: Targets {
            first_response: desk.first_response_minutes.unwrap_or_default().0,
            resolution: desk.resolution_minutes.unwrap_or_default().0,
        },
    })
}

/// The policy for messages that arrive by mail; `None` if the desk has no mail address.
pub fn mail_of(settings: &Settings) -> anyhow::Result<Option<MailPolicy>> {
    let mail = &settings.mail;
    let text = |setting: &Option<String>| setting.clone().filter(|text| !text.is_empty());
    let (reply_address, authserv_id) = match (text(&mail.reply_address), text(&mail.authserv_id)) {
        (None, None) => return Ok(None),
        (Some(reply_address), Some(authserv_id)) => (reply_address, authserv_id),
        (Some(_), None) => bail!("mail.authserv_id: required with mail.reply_address"),
        (None, Some(_)) => bail!("mail.reply_address: required with mail.authserv_id"),
    };
    let is_name = |c: char| c.is_ascii_alphanumeric() || matches!(c, '.' | '-' | '_');
    ensure!(
        authserv_id.len() <= 255 && authserv_id.chars().all(is_name),
        "mail.authserv_id: must be a host name such as mx.example.com, not {authserv_id}"
    );
    let Some(address) = MailAddress::parse(&reply_address) else {
        bail!(
            "mail.reply_address: must be an address such as support@example.com, with at most {} letters, digits, \
             dots, dashes and underscores before the @, not {reply_address}",
            MailAddress::MAX_LOCAL_CHARS
        );
    };
    Ok(Some(MailPolicy {
        reply_address: address,
        authserv_id,
    }))
}

/// The default pool for IPv6 ranges of VPCs: a part of the unique local addresses (RFC 4193), which are not routed on
/// the internet.
const DEFAULT_IPV6_POOL: &str = "fd67:6172::/32";

/// The address ranges reserved for documentation (RFC 5737).
const DOCUMENTATION_RANGES: [&str; 3] = ["192.0.2.0/24", "198.51.100.0/24", "203.0.113.0/24"];

fn ranges(name: &str, configured: Option<&[String]>, default: &[&str]) -> anyhow::Result<Vec<Cidr>> {
    let configured: Vec<&str> = match configured {
        None => default.to_vec(),
        Some(configured) => configured
            .iter()
            .map(String::as_str)
            .filter(|range| !range.is_empty())
            .collect(),
    };
    let read =
        |raw: &str| parse_with(Cidr::parse)(raw).map_err(|reason| anyhow::anyhow!("{name}: {raw}: {reason}"));
    configured.into_iter().map(read).collect()
}

fn unique<'a>(name: &str, ids: impl Iterator<Item = &'a str>) -> anyhow::Result<()> {
    let mut known = std::collections::HashSet::new();
    for id in ids {
        ensure!(known.insert(id), "{name}: the ID {id} is not unique");
    }
    Ok(())
}

fn region_of(settings: &RegionSettings) -> anyhow::Result<Region> {
    ensure!(!settings.id.is_empty(), "regions: id must not be empty");
    let or_default = |configured: &str, default: &str| match configured {
        "" => default.to_owned(),
        configured => configured.to_owned(),
    };
    Ok(Region {
        id: settings.id.clone(),
        label: settings.label.clone().unwrap_or_else(|| settings.id.clone()),
        country: settings.country.clone(),
        capabilities: settings
            .capabilities
            .clone()
            .unwrap_or_else(Region::all_capabilities),
        status: settings.status.clone().unwrap_or_else(|| "ok".to_owned()),
        resolvers_ipv4: or_default(&settings.resolvers.ipv4, Region::RESOLVERS_IPV4),
        resolvers_ipv6: or_default(&settings.resolvers.ipv6, Region::RESOLVERS_IPV6),
        placement_group_limits: PlacementGroupLimits::NONE,
        retired: false,
    })
}

fn plan_of(settings: &TypeSettings) -> anyhow::Result<Plan> {
    let id = &settings.id;
    ensure!(!id.is_empty(), "types: id must not be empty");
    for (name, number) in [
        ("memory", settings.memory),
        ("disk", settings.disk),
        ("vcpus", settings.vcpus),
        ("transfer", settings.transfer),
        ("gpus", settings.gpus),
        ("network_out", settings.network_out),
    ] {
        ensure!(
            number >= 0,
            "types: {name} of {id}: must be 0 or more, not {number}"
        );
    }
    let prices = prices_of(settings)?;
    Ok(Plan {
        id: id.clone(),
        label: settings.label.clone().unwrap_or_else(|| id.clone()),
        class: settings.class.clone().unwrap_or_else(|| "standard".to_owned()),
        memory: settings.memory,
        disk: settings.disk,
        transfer: settings.transfer,
        vcpus: settings.vcpus,
        gpus: settings.gpus,
        network_out: settings.network_out,
        backup_prices: PriceList::free_like(&prices),
        prices,
        successor: settings.successor.clone(),
        retired: false,
    })
}

/// The highest price in dollars that settings can have.
const MAX_PRICE_DOLLARS: f64 = 1e9;

fn prices_of(settings: &TypeSettings) -> anyhow::Result<PriceList> {
    let price = |name: &str, dollars: f64| {
        ensure!(
            (0.0..=MAX_PRICE_DOLLARS).contains(&dollars),
            "types: {name} of {}: must be 0 to {MAX_PRICE_DOLLARS}, not {dollars}",
            settings.id
        );
        Ok(Price::from_dollars(dollars))
    };
    let in_region = |set: &RegionPriceSettings| {
        Ok(RegionPrice {
            region: set.id.clone(),
            hourly: price("region_prices", set.hourly)?,
            monthly: price("region_prices", set.monthly)?,
        })
    };
    Ok(PriceList {
        hourly: price("hourly", settings.hourly)?,
        monthly: price("monthly", settings.monthly)?,
        regions: settings
            .region_prices
            .iter()
            .map(in_region)
            .collect::<anyhow::Result<_>>()?,
    })
}

fn image_of(settings: &ImageSettings) -> anyhow::Result<Image> {
    let time = |name: &str, raw: &str| {
        Time::parse(raw)
            .with_context(|| format!("images: {name}: must be a time such as 2024-01-01T00:00:00, not {raw}"))
    };
    ensure!(!settings.id.is_empty(), "images: id must not be empty");
    ensure!(
        settings.size >= 0,
        "images: size of {}: must be 0 or more, not {}",
        settings.id,
        settings.size
    );
    let created = settings.created.as_deref().unwrap_or("2024-01-01T00:00:00");
    Ok(Image {
        id: settings.id.clone(),
        label: settings.label.clone().unwrap_or_else(|| settings.id.clone()),
        vendor: settings.vendor.clone(),
        size: settings.size,
        state: match settings.deprecated {
            true => ImageState::Deprecated,
            false => ImageState::Current,
        },
        capabilities: settings.capabilities.clone(),
        created: time("created", created)?,
        eol: settings.eol.as_deref().map(|eol| time("eol", eol)).transpose()?,
    })
}
