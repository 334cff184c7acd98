//! Pages with which the provider manages accounts, staff, regions, plans, background jobs, announcements, its brand and
//! mail.

mod account;
mod account_activity;
mod account_edit;
pub mod account_networks;
pub mod account_summary;
mod account_user_mails;
mod account_users;
mod account_vpc;
mod accounts;
mod announcements;
mod brand_preview;
mod branding;
mod catalog;
mod chosen_images;
mod jobs;
mod mail_counts;
mod mail_preview;
mod mail_templates;
mod plan_form;
mod plans;
mod regions;
mod settings_page;
mod staff;
mod suppressed_addresses;
mod tabs;

use crate::console::page::{Page, get, post};
use crate::model::staff_role::StaffRole;

const ACCOUNT: &str = "/provider/accounts/{accountId}";
const ANNOUNCEMENT: &str = "/provider/announcements/{announcementId}";
const MAIL_TEMPLATES: &str = "/provider/mail-templates";
const PROVIDER_PLAN: &str = "/provider/plans/{typeId}";
const PROVIDER_REGION: &str = "/provider/regions/{regionId}";
const STAFF_USER: &str = "/provider/staff/{staffUsername}";

pub fn pages() -> Vec<Page> {
    let mut pages = account_pages();
    pages.extend(network_pages());
    pages.extend(staff_pages());
    pages.extend(region_pages());
    pages.extend(plan_pages());
    pages.extend(job_pages());
    pages.extend(announcement_pages());
    pages.extend(branding_pages());
    pages.extend(mail_template_pages());
    pages
}

fn account_pages() -> Vec<Page> {
    vec![
        get("pageProviderAccounts", "/provider", accounts::list).staff(),
        get("pageProviderAccountNew", "/provider/accounts/new", accounts::new).role(StaffRole::Admin),
        post(
            "sendProviderAccountNew",
            "/provider/accounts/new",
            accounts::create,
        )
        .role(StaffRole::Admin),
        get("pageProviderAccount", ACCOUNT, account::view).staff(),
        get(
            "pageProviderAccountEdit",
            "/provider/accounts/{accountId}/edit",
            account_edit::edit,
        )
        .role(StaffRole::Operator),
        post(
            "sendProviderAccountEdit",
            "/provider/accounts/{accountId}/edit",
            account_edit::update,
        )
        .role(StaffRole::Operator),
        get(
            "pageProviderAccountQuotas",
            "/provider/accounts/{accountId}/quotas",
            account_edit::quotas,
        )
        .role(StaffRole::Operator),
        post(
            "sendProviderAccountQuotas",
            "/provider/accounts/{accountId}/quotas",
            account_edit::update_quotas,
        )
        .role(StaffRole::Operator),
        post(
            "sendProviderAccountSuspend",
            "/provider/accounts/{accountId}/suspend",
            account::suspend,
        )
        .role(StaffRole::Operator),
        post(
            "sendProviderAccountReactivate",
            "/provider/accounts/{accountId}/reactivate",
            account::reactivate,
        )
        .role(StaffRole::Operator),
        get(
            "exportProviderAccountFile",
            "/provider/accounts/{accountId}/export",
            account::export,
        )
        .role(StaffRole::Admin),
        post(
            "sendProviderAccountClose",
            "/provider/accounts/{accountId}/close",
            account::close,
        )
        .role(StaffRole::Admin),
        get(
            "pageProviderAccountUserNew",
            "/provider/accounts/{accountId}/new-user",
            account_users::new,
        )
        .role(StaffRole::Admin),
        post(
            "sendProviderAccountUserNew",
            "/provider/accounts/{accountId}/new-user",
            account_users::create,
        )
        .role(StaffRole::Admin),
        get(
            "pageAccountUserMails",
            "/provider/accounts/{accountId}/users/{username}/mails",
            account_user_mails::page,
        )
        .role(StaffRole::Operator),
        post(
            "sendAccountUserDisable",
            "/provider/accounts/{accountId}/users/{username}/disable",
            account_users::disable,
        )
        .role(StaffRole::Operator),
        post(
            "sendAccountUserEnable",
            "/provider/accounts/{accountId}/users/{username}/enable",
            account_users::enable,
        )
        .role(StaffRole::Operator),
        post(
            "sendAccountUserLink",
            "/provider/accounts/{accountId}/users/{username}/link",
            account_users::link,
        )
        .role(StaffRole::Admin),
        post(
            "sendAccountUserInvitation",
            "/provider/accounts/{accountId}/users/{username}/invitation",
            account_users::invite,
        )
        .role(StaffRole::Admin),
    ]
}

/// Read-only pages, for all staff.
fn network_pages() -> Vec<Page> {
    vec![
        get(
            "pageProviderAccountVpcs",
            "/provider/accounts/{accountId}/vpcs",
            account_networks::vpcs,
        )
        .staff(),
        get(
            "pageProviderAccountVpc",
            "/provider/accounts/{accountId}/vpcs/{vpcId}",
            account_vpc::view,
        )
        .staff(),
        get(
            "pageProviderAccountInstances",
            "/provider/accounts/{accountId}/instances",
            account_networks::instances,
        )
        .staff(),
        get(
            "pageProviderAccountActivity",
            "/provider/accounts/{accountId}/activity",
            account_activity::list,
        )
        .staff(),
    ]
}

fn staff_pages() -> Vec<Page> {
    let pages = vec![
        get("pageStaff", "/provider/staff", staff::list),
        get("pageStaffNew", "/provider/new-staff", staff::new),
        post("sendStaffNew", "/provider/new-staff", staff::create),
        get("pageStaffUser", STAFF_USER, staff::edit),
        post("sendStaffUser", STAFF_USER, staff::update),
        post(
            "sendStaffUserLink",
            "/provider/staff/{staffUsername}/link",
            staff::link,
        ),
        post(
            "sendStaffUserInvitation",
            "/provider/staff/{staffUsername}/invitation",
            staff::invite,
        ),
        post(
            "sendStaffUserDelete",
            "/provider/staff/{staffUsername}/delete",
            staff::delete,
        ),
    ];
    let for_admins = |page: Page| page.role(StaffRole::Admin);
    pages.into_iter().map(for_admins).collect()
}

fn region_pages() -> Vec<Page> {
    let pages = vec![
        get("pageProviderRegions", "/provider/regions", regions::list),
        get("pageProviderRegionNew", "/provider/regions/new", regions::new),
        post("sendProviderRegionNew", "/provider/regions/new", regions::create),
        get("pageProviderRegion", PROVIDER_REGION, regions::edit),
        post("sendProviderRegion", PROVIDER_REGION, regions::update),
        post(
            "sendProviderRegionRetire",
            "/provider/regions/{regionId}/retire",
            regions::retire,
        ),
        post(
            "sendProviderRegionReactivate",
            "/provider/regions/{regionId}/reactivate",
            regions::reactivate,
        ),
    ];
    let for_operators = |page: Page| page.role(StaffRole::Operator);
    pages.into_iter().map(for_operators).collect()
}

fn plan_pages() -> Vec<Page> {
    let pages = vec![
        get("pageProviderPlans", "/provider/plans", plans::list),
        get("pageProviderPlanNew", "/provider/plans/new", plans::new),
        post("sendProviderPlanNew", "/provider/plans/new", plans::create),
        get("pageProviderPlan", PROVIDER_PLAN, plans::edit),
        post("sendProviderPlan", PROVIDER_PLAN, plans::update),
        post(
            "sendProviderPlanRetire",
            "/provider/plans/{typeId}/retire",
            plans::retire,
        ),
        post(
            "sendProviderPlanReactivate",
            "/provider/plans/{typeId}/reactivate",
            plans::reactivate,
        ),
    ];
    let for_operators = |page: Page| page.role(StaffRole::Operator);
    pages.into_iter().map(for_operators).collect()
}

fn job_pages() -> Vec<Page> {
    let pages = vec![
        get("pageJobs", "/provider/jobs", jobs::list),
        post("sendJobRetry", "/provider/jobs/{jobId}/retry", jobs::retry),
        post("sendJobCancel", "/provider/jobs/{jobId}/cancel", jobs::cancel),
        get(
            "pageSuppressedAddresses",
            "/provider/suppressed-addresses",
            suppressed_addresses::list,
        ),
        post(
            "sendSuppressedAddressDelete",
            "/provider/suppressed-addresses/{suppressedAddressId}/delete",
            suppressed_addresses::delete,
        ),
    ];
    let for_operators = |page: Page| page.role(StaffRole::Operator);
    pages.into_iter().map(for_operators).collect()
}

fn announcement_pages() -> Vec<Page> {
    let pages = vec![
        get(
            "pageAnnouncements",
            "/provider/announcements",
            announcements::list,
        ),
        get(
            "pageAnnouncementNew",
            "/provider/announcements/new",
            announcements::new,
        ),
        post(
            "sendAnnouncementNew",
            "/provider/announcements/new",
            announcements::create,
        ),
        get("pageAnnouncement", ANNOUNCEMENT, announcements::edit),
        post("sendAnnouncement", ANNOUNCEMENT, announcements::update),
        post(
            "sendAnnouncementDelete",
            "/provider/announcements/{announcementId}/delete",
            announcements::delete,
        ),
    ];
    let for_operators = |page: Page| page.role(StaffRole::Operator);
    pages.into_iter().map(for_operators).collect()
}

fn branding_pages() -> Vec<Page> {
    let changes = vec![
        post("sendBranding", "/provider/branding", branding::update).with_small_files(),
        post(
            "sendBrandingPreview",
            "/provider/branding/preview",
            branding::preview,
        )
        .with_small_files(),
        post("sendBrandingReset", "/provider/branding/reset", branding::reset),
        post(
            "sendBrandingImageDelete",
            "/provider/branding/images/{brandImage}/delete",
            branding::remove,
        ),
    ];
    let for_admins = |page: Page| page.role(StaffRole::Admin);
    let view = get("pageBranding", "/provider/branding", branding::view).role(StaffRole::Operator);
    changes.into_iter().map(for_admins).chain([view]).collect()
}

fn mail_template_pages() -> Vec<Page> {
    let changes = vec![
        post("sendMailTemplates", MAIL_TEMPLATES, mail_templates::update),
        post(
            "sendMailTemplatesPreview",
            "/provider/mail-templates/preview",
            mail_templates::preview,
        ),
        post(
            "sendMailTemplatesReset",
            "/provider/mail-templates/reset",
            mail_templates::reset,
        ),
    ];
    let for_admins = |page: Page| page.role(StaffRole::Admin);
    let view = get("pageMailTemplates", MAIL_TEMPLATES, mail_templates::view).role(StaffRole::Operator);
    changes.into_iter().map(for_admins).chain([view]).collect()
}
