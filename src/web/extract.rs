//! Extractors for handlers. They never reject a request: the rule reports invalid input after it has checked that the
//! caller has access.

use std::convert::Infallible;
use std::net::Ipv4Addr;

use axum::extract::{FromRequest, FromRequestParts, RawPathParams};
use axum::http::request::Parts;
use axum::http::{HeaderMap, header};

use crate::model::brand_image::{BrandImage, ImageSlot};
use crate::model::id::{
    AccountId, AnnouncementId, AttachmentId, CannedReplyId, ConfigId, DiskId, EventId, HostId, InstanceId,
    InterfaceId, JobId, LoginRecordId, SavedViewId, SshKeyId, SubnetId, TicketId, TokenId, VpcId,
};
use crate::model::interface::parse_address;
use crate::model::reason::{Code, Reason};
use crate::model::token::TokenHash;
use crate::rules::agent::Staff;
use crate::rules::branding::{ImageUpload, UploadFault};
use crate::rules::caller::Caller;
use crate::rules::host_principal::HostPrincipal;
use crate::rules::lists::{FILTER, ListRequest, Number};
use crate::rules::request::{Drafted, Expected, FromForm, Request};
use crate::rules::traces::TracePath;
use crate::rules::usage::MonthPath;
use crate::web::{App, body, json};

impl FromRequestParts<App> for Caller {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let caller = parts.extensions.remove::<Caller>();
        Ok(caller.expect("the access check inserts the caller of a tenants' operation"))
    }
}

impl FromRequestParts<App> for Staff {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let staff = parts.extensions.remove::<Staff>();
        Ok(staff.expect("the access check inserts the staff user of a desk operation"))
    }
}

impl FromRequestParts<App> for HostPrincipal {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let principal = parts.extensions.remove::<HostPrincipal>();
        Ok(principal.expect("the access check inserts the principal of an agents' operation"))
    }
}

/// The search words in `?q=`.
pub struct Search(pub Option<String>);

impl FromRequestParts<App> for Search {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let mut query = form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes());
        Ok(Search(
            query
                .find(|(key, _)| key == "q")
                .map(|(_, words)| words.into_owned()),
        ))
    }
}

/// The days in `?from=` and `?to=`.
pub struct Days {
    pub from: Option<String>,
    pub to: Option<String>,
}

impl FromRequestParts<App> for Days {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let query = parts.uri.query().unwrap_or_default().as_bytes();
        let find = |name: &str| {
            let mut pairs = form_urlencoded::parse(query);
            pairs
                .find(|(key, _)| key == name)
                .map(|(_, day)| day.into_owned())
        };
        Ok(Days {
            from: find("from"),
            to: find("to"),
        })
    }
}

impl FromRequest<App> for Request {
    type Rejection = Infallible;

    async fn from_request(request: axum::extract::Request, app: &App) -> Result<Self, Infallible> {
        let expected = expected(request.headers());
        let body = body::read(request, app.options().body_timeout).await;
        Ok(Request { expected, body })
    }
}

impl FromRequest<App> for ImageUpload {
    type Rejection = Infallible;

    async fn from_request(request: axum::extract::Request, app: &App) -> Result<Self, Infallible> {
        let expected = expected(request.headers());
        let file = body::image(request, app.options().body_timeout).await;
        let image = file
            .map_err(UploadFault::Body)
            .and_then(|file| BrandImage::parse(&file).map_err(UploadFault::Image));
        Ok(ImageUpload { expected, image })
    }
}

impl<D: FromForm + Send + 'static> FromRequest<App> for Drafted<D> {
    type Rejection = Infallible;

    async fn from_request(request: axum::extract::Request, app: &App) -> Result<Self, Infallible> {
        let request = Request::from_request(request, app).await?;
        Ok(app.prepare(request))
    }
}

/// The entity tags in `If-Match`; `None` if the request has no such header.
pub fn expected(headers: &HeaderMap) -> Option<Expected> {
    let tags = headers.get_all(header::IF_MATCH).into_iter();
    let mut tags = tags
        .flat_map(|value| value.to_str().unwrap_or_default().split(','))
        .map(str::trim)
        .peekable();
    tags.peek()?;
    let tags: Vec<_> = tags.map(str::to_owned).collect();
    Some(if tags.iter().any(|tag| tag == "*") {
        Expected::Any
    } else {
        Expected::Tags(tags)
    })
}

impl FromRequestParts<App> for ListRequest {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, _: &App) -> Result<Self, Infallible> {
        let mut list = ListRequest::default();
        for (key, value) in form_urlencoded::parse(parts.uri.query().unwrap_or_default().as_bytes()) {
            match key.as_ref() {
                "page" => list.page = Number::Sent(value.into_owned()),
                "page_size" => list.page_size = Number::Sent(value.into_owned()),
                "after" => list.after = Some(("after", value.into_owned())),
                _ => {}
            }
        }
        list.filter = parts.headers.get(FILTER).map(|value| {
            let filter_error = |text| Reason::new(Code::FilterInvalid, text);
            json::parse(value.as_bytes()).map_err(|reason| filter_error(reason.text))
        });
        Ok(list)
    }
}

/// The IDs in a path. An invalid ID becomes zero, which is not the ID of any resource.
pub struct At<T>(pub T);

impl<T: FromPath> FromRequestParts<App> for At<T> {
    type Rejection = Infallible;

    async fn from_request_parts(parts: &mut Parts, app: &App) -> Result<Self, Infallible> {
        let params = RawPathParams::from_request_parts(parts, app).await;
        let find = |name: &str| {
            let params = params.as_ref().ok()?;
            params
                .iter()
                .find(|(key, _)| *key == name)
                .map(|(_, value)| value.to_owned())
        };
        Ok(At(T::from_path(&find)))
    }
}

pub trait FromPath {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self;
}

/// Parses an ID in canonical form: digits without a sign or leading zeros.
fn parse_id(raw: Option<String>) -> i64 {
    let canonical = raw.filter(|raw| !raw.starts_with(['0', '+', '-']));
    canonical.and_then(|raw| raw.parse().ok()).unwrap_or(0)
}

impl FromPath for VpcId {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        VpcId(parse_id(find("vpcId")))
    }
}

impl FromPath for (VpcId, SubnetId) {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        (VpcId::from_path(find), SubnetId(parse_id(find("vpcSubnetId"))))
    }
}

impl FromPath for TicketId {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        TicketId(parse_id(find("ticketId")))
    }
}

impl FromPath for (TicketId, AttachmentId) {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        (
            TicketId::from_path(find),
            AttachmentId(parse_id(find("attachmentId"))),
        )
    }
}

impl FromPath for (TicketId, SubnetId) {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        (TicketId::from_path(find), SubnetId(parse_id(find("vpcSubnetId"))))
    }
}

impl FromPath for CannedReplyId {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        CannedReplyId(parse_id(find("cannedReplyId")))
    }
}

impl FromPath for SavedViewId {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        SavedViewId(parse_id(find("savedViewId")))
    }
}

impl FromPath for HostId {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        HostId(parse_id(find("hostId")))
    }
}

impl FromPath for AccountId {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        AccountId(parse_id(find("accountId")))
    }
}

impl FromPath for (AccountId, VpcId) {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        (AccountId::from_path(find), VpcId::from_path(find))
    }
}

impl FromPath for AnnouncementId {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        AnnouncementId(parse_id(find("announcementId")))
    }
}

/// `None` for an unknown image.
impl FromPath for Option<ImageSlot> {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        ImageSlot::find(&find("brandImage")?)
    }
}

impl FromPath for JobId {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        JobId(parse_id(find("jobId")))
    }
}

/// The account and the name of a user.
impl FromPath for (AccountId, String) {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        (AccountId::from_path(find), find("username").unwrap_or_default())
    }
}

/// The account, the kind and the ID of an entity.
impl FromPath for (AccountId, String, i64) {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        let kind = find("entityType").unwrap_or_default();
        (AccountId::from_path(find), kind, parse_id(find("entityId")))
    }
}

/// A username, and the kind and the ID of an object.
impl FromPath for (String, String, i64) {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        let kind = find("entityType").unwrap_or_default();
        (String::from_path(find), kind, parse_id(find("entityId")))
    }
}

impl FromPath for LoginRecordId {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        LoginRecordId(parse_id(find("loginId")))
    }
}

impl FromPath for SshKeyId {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        SshKeyId(parse_id(find("sshKeyId")))
    }
}

impl FromPath for TokenId {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        TokenId(parse_id(find("tokenId")))
    }
}

/// The ID of an authorization, which the API calls an app.
impl FromPath for i64 {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        parse_id(find("appId"))
    }
}

impl FromPath for EventId {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        EventId(parse_id(find("eventId")))
    }
}

impl FromPath for InstanceId {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        InstanceId(parse_id(find("computeId")))
    }
}

/// An invalid address becomes `0.0.0.0`, which no instance has.
impl FromPath for Ipv4Addr {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        let address = find("address").and_then(|raw| parse_address(&raw).ok());
        address.map_or(Ipv4Addr::UNSPECIFIED, Ipv4Addr::from_bits)
    }
}

impl FromPath for (InstanceId, Ipv4Addr) {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        (InstanceId::from_path(find), Ipv4Addr::from_path(find))
    }
}

impl FromPath for TracePath {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        TracePath {
            instance: InstanceId::from_path(find),
            address: find("targetAddress").unwrap_or_default(),
        }
    }
}

impl FromPath for (InstanceId, ConfigId) {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        (InstanceId::from_path(find), ConfigId(parse_id(find("configId"))))
    }
}

impl FromPath for (InstanceId, DiskId) {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        (InstanceId::from_path(find), DiskId(parse_id(find("diskId"))))
    }
}

impl FromPath for MonthPath {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        MonthPath {
            instance: InstanceId::from_path(find),
            year: parse_id(find("year")),
            month: parse_id(find("month")),
        }
    }
}

impl FromPath for (InstanceId, ConfigId, InterfaceId) {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        let (instance, config) = FromPath::from_path(find);
        (instance, config, InterfaceId(parse_id(find("interfaceId"))))
    }
}

/// The hash of the secret in a password link.
pub struct Link(pub TokenHash);

impl FromPath for Link {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        Link(TokenHash::of(&find("link").unwrap_or_default()))
    }
}

/// A username, the label of a tag, or the ID of a region, a plan, an image, a kernel or an OAuth client.
impl FromPath for String {
    fn from_path(find: &dyn Fn(&str) -> Option<String>) -> Self {
        let names = [
            "regionId",
            "typeId",
            "imageId",
            "kernelId",
            "username",
            "staffUsername",
            "clientId",
            "tagLabel",
        ];
        names.into_iter().find_map(find).unwrap_or_default()
    }
}
