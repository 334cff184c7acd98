//! The form fields that attach an instance to a subnet: the VPC, the subnet and the address.

use maud::{Markup, html};

use crate::console::forms::{self, Field, FormData, FormState};
use crate::model::id::{SubnetId, VpcId};
use crate::model::input::Input;
use crate::model::subnet_name::{SubnetName, VpcName};
use crate::rules;
use crate::rules::caller::Caller;
use crate::rules::subnet_names::MAX_VPC_CHOICES;
use crate::store::ReadTx;

/// The field with the VPC, which only selects the subnets to choose from.
const VPC: &str = "vpc_id";
/// The checkbox for 1:1 NAT.
const NAT: &str = "nat";
/// The button that loads the subnets of a VPC, without JavaScript.
const LOAD: &str = "load";

/// The names of the fields, which are those of the rule.
#[derive(Clone, Copy)]
pub struct FieldNames {
    pub subnet: &'static str,
    pub address: &'static str,
}

/// The choice of the user so far.
#[derive(Clone, Debug)]
pub struct Selection {
    vpc: Option<VpcId>,
    subnet: Option<SubnetId>,
    region: Option<String>,
}

impl Selection {
    pub fn read(data: &FormData, names: FieldNames) -> Self {
        let id = |name: &str| data.text(name).parse().ok();
        Self {
            vpc: id(VPC).map(VpcId),
            subnet: id(names.subnet).map(SubnetId),
            region: Some(data.text("region").to_owned()).filter(|region| !region.is_empty()),
        }
    }

    /// Limits the VPCs to a region.
    pub fn in_region(self, region: &str) -> Self {
        Self {
            region: Some(region.to_owned()),
            ..self
        }
    }

    pub fn load(&self, tx: &mut ReadTx, caller: &Caller) -> rules::Result<Choices> {
        let subnet = match self.subnet {
            Some(id) => rules::subnet_names::find(tx, caller, id)?,
            None => None,
        };
        let region = self
            .region
            .as_deref()
            .or(subnet.as_ref().map(|subnet| subnet.region.as_str()));
        let vpcs = rules::subnet_names::vpc_choices(tx, caller, region)?;
        // After another region was chosen, the VPC is no longer in the list.
        let is_listed = |id: &VpcId| vpcs.iter().any(|vpc| vpc.id == *id);
        let vpc = self.vpc.or(subnet.as_ref().map(|subnet| subnet.vpc));
        let vpc = vpc.filter(|id| is_listed(id) || vpcs.len() as i64 == MAX_VPC_CHOICES);
        let subnets = match vpc {
            Some(vpc) => rules::subnet_names::of_vpc(tx, caller, vpc)?,
            None => Vec::new(),
        };
        Ok(Choices {
            vpcs,
            subnets,
            vpc,
            region: region.map(str::to_owned),
        })
    }
}

/// The VPCs, and the subnets of the selected VPC.
pub struct Choices {
    vpcs: Vec<VpcName>,
    subnets: Vec<SubnetName>,
    vpc: Option<VpcId>,
    /// The region of the selected subnet, or the selected region.
    pub region: Option<String>,
}

/// Whether the user only loads the subnets of a VPC.
pub fn is_load(data: &FormData) -> bool {
    data.has(LOAD)
}

/// The interface for a rule.
pub fn interface(data: &FormData, names: FieldNames) -> Vec<(String, Input)> {
    let text = |text: &str| Input::Text(text.to_owned());
    let mut ipv4 = vec![("vpc".to_owned(), text(data.text(names.address).trim()))];
    if data.text(NAT) == "true" {
        ipv4.push(("nat_1_1".to_owned(), text("any")));
    }
    let mut object = vec![
        ("purpose".to_owned(), text("vpc")),
        ("ipv4".to_owned(), Input::Object(ipv4)),
    ];
    if let Ok(subnet) = data.text(names.subnet).parse() {
        object.push(("subnet_id".to_owned(), Input::Integer(subnet)));
    }
    object
}

/// The fields. `page_url` is the URL of the page, from which htmx reloads them.
pub fn fields(
    form_state: &FormState,
    choices: &Choices,
    names: FieldNames,
    optional: bool,
    page_url: &str,
) -> Markup {
    let subnets: Vec<_> = choices
        .subnets
        .iter()
        .map(|subnet| {
            let label = format!("{} ({})", subnet.label.as_str(), subnet.ipv4);
            (subnet.id.to_string(), label)
        })
        .collect();
    let subnet = Field {
        name: names.subnet,
        label: "Subnet",
        hint: if choices.vpc.is_none() {
            "Choose a VPC first."
        } else {
            ""
        },
        optional,
        ..Field::default()
    };
    let address = Field {
        name: names.address,
        label: "Private address",
        hint: "Leave it empty to get the lowest free address.",
        optional: true,
        code: true,
        max_chars: Some(15),
        ..Field::default()
    };
    let nat = Field {
        name: NAT,
        label: "1:1 NAT with the public address",
        hint: "Connects the instance to the internet through this interface.",
        ..Field::default()
    };
    html! {
        div #network-choice hx-get=(page_url) hx-trigger="change from:#f-region, change from:#f-vpc-id" hx-include="closest form"
            hx-params="region,vpc_id" hx-select="#network-choice" hx-swap="outerHTML" {
            (vpc_field(choices, optional))
            (forms::select_or(form_state, subnet, "Choose…", &subnets))
        }
        (forms::text_input(form_state, address))
        (forms::checkbox(form_state, nat))
    }
}

fn vpc_field(choices: &Choices, optional: bool) -> Markup {
    html! {
        div .field {
            label for="f-vpc-id" { "VPC" @if optional { " " span .optional { "optional" } } }
            select #f-vpc-id name=(VPC) required[!optional] {
                option value="" { @if optional { "None" } @else { "Choose…" } }
                @for vpc in &choices.vpcs {
                    option value=(vpc.id) selected[Some(vpc.id) == choices.vpc] { (vpc.label.as_str()) " (" (vpc.region) ")" }
                }
            }
            @if choices.vpcs.is_empty() { p .hint { "You have no VPCs" @if choices.region.is_some() { " in this region" } "." } }
            button .no-script type="submit" name=(LOAD) value="1" formnovalidate { "Show subnets" }
        }
    }
}
