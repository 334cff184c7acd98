//! Builds JSON responses: one object, a page of a collection, or an empty object.

use std::hash::Hash;
use std::sync::Arc;

use axum::body::Body;
use axum::http::{HeaderValue, StatusCode, header};
use axum::response::Response;
use serde::{Serialize, Serializer};
use serde_json::value::RawValue;

use crate::model::cidr::{Cidr, Network};
use crate::model::entity_tag::EntityTag;
use crate::model::family::Family;
use crate::model::page::Paged;
use crate::model::time::Time;
use crate::web::chunks::Chunks;

/// The content type of JSON. It has no charset, because a published client compares it with `application/json`.
pub const JSON: HeaderValue = HeaderValue::from_static("application/json");

/// The estimated size of a list item. A VPC with two subnets has about this size.
const ITEM_BYTES: usize = 640;

pub fn json(status: StatusCode, value: &impl Serialize) -> Response {
    let mut bytes = Vec::with_capacity(1024);
    serde_json::to_writer(&mut bytes, value).expect("views can be serialized as JSON");
    let length = HeaderValue::from(bytes.len());
    let mut response = Response::new(Body::from(bytes));
    *response.status_mut() = status;
    response.headers_mut().insert(header::CONTENT_TYPE, JSON);
    response.headers_mut().insert(header::CONTENT_LENGTH, length);
    response
}

/// The response with one object, and with the entity tag of the object's current state.
pub fn one(object: &impl Hash, view: &impl Serialize) -> Response {
    let mut response = json(StatusCode::OK, view);
    response.headers_mut().insert(header::ETAG, tag(object));
    response
}

/// The entity tag of a resource's current state.
pub fn tag(object: &impl Hash) -> HeaderValue {
    HeaderValue::try_from(EntityTag::of(object).to_string()).expect("a tag is plain ASCII")
}

/// A page in the collection envelope (interface §2.6).
pub fn page<'a, T, V: Serialize>(paged: &'a Paged<T>, view: impl Fn(&'a T) -> V) -> Response {
    let mut chunks = Chunks::with_capacity(512 + ITEM_BYTES * paged.items.len());
    chunks.text(r#"{"data":["#);
    for (at, item) in paged.items.iter().enumerate() {
        if at > 0 {
            chunks.text(",");
        }
        chunks.json(&view(item));
    }
    let (page, pages, results) = (paged.page.number, paged.pages(), paged.results);
    chunks.text(&format!(
        r#"],"page":{page},"pages":{pages},"results":{results}}}"#
    ));
    chunks.into_response()
}

/// The response with the empty object `{}`, for operations without a result.
pub fn done() -> Response {
    #[derive(Serialize)]
    struct Empty {}
    json(StatusCode::OK, &Empty {})
}

/// Serializes an optional time; `None` becomes null.
pub fn optional_time<S: Serializer>(at: &Option<Time>, to: S) -> Result<S::Ok, S::Error> {
    match at {
        Some(at) => time(at, to),
        None => to.serialize_none(),
    }
}

/// Serializes a time in the format of the API.
pub fn time<S: Serializer>(time: &Time, to: S) -> Result<S::Ok, S::Error> {
    let mut text = [0; Time::WIDTH];
    to.serialize_str(time.write(&mut text))
}

/// Serializes a network in the format of the API.
pub fn network<F: Family, S: Serializer>(network: &Network<F>, to: S) -> Result<S::Ok, S::Error> {
    F::with_text(*network, |text| to.serialize_str(text))
}

/// An object with a range.
#[derive(Serialize)]
pub struct RangeView<F: Family> {
    #[serde(serialize_with = "network")]
    range: Network<F>,
}

impl<F: Family> RangeView<F> {
    pub fn new(range: Network<F>) -> Self {
        Self { range }
    }
}

/// The JSON of a list of ranges, for use in many responses.
pub fn ranges_json(ranges: &[Cidr]) -> Arc<RawValue> {
    let views: Vec<_> = ranges.iter().map(|range| RangeView::new(*range)).collect();
    let json = serde_json::value::to_raw_value(&views).expect("views can be serialized as JSON");
    json.into()
}
