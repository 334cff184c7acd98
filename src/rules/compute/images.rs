//! Images: the provider's public catalog.

use crate::model::image::Image;
use crate::model::page::Paged;
use crate::model::policy::Policy;
use crate::rules::error::{Error, Result};
use crate::rules::lists::ListRequest;
use crate::store::filter::{Field, Kind};
use crate::store::value::Value;

static FIELDS: [Field; 11] = [
    Field::new("id", Kind::Text, ""),
    Field::new("label", Kind::Text, ""),
    Field::new("vendor", Kind::Text, ""),
    Field::new("is_public", Kind::Boolean, ""),
    Field::new("size", Kind::Integer, ""),
    Field::new("deprecated", Kind::Boolean, ""),
    Field::new("type", Kind::Text, ""),
    Field::new("status", Kind::Text, ""),
    Field::new("created_by", Kind::Text, ""),
    Field::new("description", Kind::Text, ""),
    Field::new("created", Kind::Time, ""),
];

pub fn list(policy: &Policy, list: &ListRequest) -> Result<Paged<Image>> {
    let query = list.read(policy, &FIELDS)?;
    let listed: Vec<_> = policy
        .images
        .iter()
        .filter(|image| image.is_listed())
        .cloned()
        .collect();
    Ok(query.select(&listed, field))
}

pub fn view(policy: &Policy, id: &str) -> Result<Image> {
    let image = policy.images.iter().find(|image| image.id == id);
    image.cloned().ok_or(Error::NotFound)
}

fn field<'a>(image: &'a Image, name: &str) -> Value<'a> {
    match name {
        "id" => Value::from(image.id.as_str()),
        "label" => Value::from(image.label.as_str()),
        "vendor" => Value::from(image.vendor.as_str()),
        "is_public" => Value::from(true),
        "size" => Value::from(image.size),
        "deprecated" => Value::from(image.is_deprecated()),
        "type" => Value::from(Image::TYPE),
        "status" => Value::from(Image::STATUS),
        "created_by" => Value::from(Image::CREATED_BY),
        "description" => Value::from(""),
        _ => Value::from(image.created),
    }
}
