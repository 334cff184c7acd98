//! JSON views of tags.

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::ViewContext;
use crate::api::instances::InstanceView;
use crate::model::instance::Instance;
use crate::model::object_tag::ObjectTag;
use crate::model::page::Paged;
use crate::model::subject::SubjectKind;
use crate::web::answer;

#[derive(Serialize)]
struct TagView<'a> {
    label: &'a str,
}

/// An object with a tag.
#[derive(Serialize)]
struct TaggedView<'a> {
    #[serde(rename = "type")]
    kind: &'static str,
    data: InstanceView<'a>,
}

impl<'a> TagView<'a> {
    fn new(tag: &'a ObjectTag) -> Self {
        let label = tag.label.as_str();
        Self { label }
    }
}

pub fn one(tag: &ObjectTag, _: &ViewContext) -> Response {
    answer::one(tag, &TagView::new(tag))
}

pub fn page(tags: &Paged<ObjectTag>, _: &ViewContext) -> Response {
    answer::page(tags, TagView::new)
}

pub fn objects(instances: &Paged<Instance>, context: &ViewContext) -> Response {
    answer::page(instances, |instance| TaggedView {
        kind: SubjectKind::Linode.word(),
        data: InstanceView::new(instance, context.policy),
    })
}
