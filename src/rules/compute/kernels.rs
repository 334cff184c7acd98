//! Kernels: a public catalog.

use crate::model::kernel::{KERNELS, Kernel};
use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::store::filter::{Field, Kind};
use crate::store::value::Value;

static FIELDS: [Field; 7] = [
    Field::new("id", Kind::Text, ""),
    Field::new("label", Kind::Text, ""),
    Field::new("version", Kind::Text, ""),
    Field::new("architecture", Kind::Text, ""),
    Field::new("kvm", Kind::Boolean, ""),
    Field::new("pvops", Kind::Boolean, ""),
    Field::new("deprecated", Kind::Boolean, ""),
];

pub fn list(policy: &Policy, list: &ListRequest) -> Result<Paged<Kernel>> {
    let query = list.read(policy, &FIELDS)?;
    Ok(query.select(&KERNELS, field))
}

pub fn view(_: &Policy, id: &str) -> Result<Kernel> {
    let kernel = KERNELS.iter().find(|kernel| kernel.id == id);
    kernel.copied().ok_or(Error::NotFound)
}

fn field<'a>(kernel: &'a Kernel, name: &str) -> Value<'a> {
    match name {
        "id" => Value::from(kernel.id),
        "label" => Value::from(kernel.label),
        "version" => Value::from(kernel.version),
        "architecture" => Value::from(kernel.architecture),
        "kvm" => Value::from(Kernel::KVM),
        "pvops" => Value::from(kernel.pvops),
        _ => Value::from(Kernel::DEPRECATED),
    }
}
