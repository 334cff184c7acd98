//! The tabs of the provider's administration.

use maud::{Markup, html};

use super::account_summary;
use crate::console::visit::Visit;
use crate::model::staff_role::StaffRole;

/// The label and the URL of the list of staff.
pub const STAFF: (&str, &str) = ("Staff", "/provider/staff");
/// The label and the URL of the list of jobs.
pub const JOBS: (&str, &str) = ("Jobs", "/provider/jobs");
/// The label and the URL of the list of announcements.
pub const ANNOUNCEMENTS: (&str, &str) = ("Announcements", "/provider/announcements");

/// The label and the URL of the list of regions.
pub const REGIONS: (&str, &str) = ("Regions", "/provider/regions");
/// The label and the URL of the list of plans.
pub const PLANS: (&str, &str) = ("Plans", "/provider/plans");
/// The label and the URL of the page of the brand.
pub const BRANDING: (&str, &str) = ("Branding", "/provider/branding");

/// The label and the URL of the page with the mails to send, the received messages and the suppressed addresses.
pub const MAIL: (&str, &str) = ("Mail", "/provider/suppressed-addresses");

/// The label and the URL of the page of the texts of mails.
pub const MAIL_TEMPLATES: (&str, &str) = ("Mail templates", "/provider/mail-templates");

/// The tabs that the user's role permits.
pub fn tabs(visit: &Visit, current_path: &str) -> Markup {
    let tabs = [
        (account_summary::LIST, StaffRole::Support),
        (STAFF, StaffRole::Admin),
        (REGIONS, StaffRole::Operator),
        (PLANS, StaffRole::Operator),
        (JOBS, StaffRole::Operator),
        (MAIL_TEMPLATES, StaffRole::Operator),
        (MAIL, StaffRole::Operator),
        (ANNOUNCEMENTS, StaffRole::Operator),
        (BRANDING, StaffRole::Operator),
    ];
    html! {
        nav .subpages aria-label="Provider" {
            ul {
                @for ((label, path), _) in tabs.iter().filter(|(_, role)| visit.has_role(*role)) {
                    li { a href=(path) aria-current=[(*path == current_path).then_some("page")] { (label) } }
                }
            }
        }
    }
}
