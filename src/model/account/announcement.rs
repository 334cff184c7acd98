//! Announcements of the provider, which tenants see in the console.

use crate::model::id::AnnouncementId;
use crate::model::reason::{Code, Reason, Reasons};
use crate::model::text::{Line, Prose};
use crate::model::time::Time;

pub type AnnouncementTitle = Line<128>;
/// Markdown, as in tickets.
pub type AnnouncementText = Prose<10_000>;

#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Announcement {
    pub id: AnnouncementId,
    pub title: AnnouncementTitle,
    pub text: AnnouncementText,
    pub severity: Severity,
    pub starts: Time,
    /// `None` if staff end the announcement.
    pub ends: Option<Time>,
    pub created: Time,
    pub updated: Time,
}

#[derive(Clone, Debug)]
pub struct NewAnnouncement {
    pub title: AnnouncementTitle,
    pub text: AnnouncementText,
    pub severity: Severity,
    pub starts: Time,
    pub ends: Option<Time>,
}

#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Hash)]
pub enum Severity {
    #[default]
    Minor,
    Major,
    Critical,
}

impl Severity {
    pub const ALL: [Severity; 3] = [Severity::Minor, Severity::Major, Severity::Critical];

    pub const fn word(self) -> &'static str {
        match self {
            Severity::Minor => "minor",
            Severity::Major => "major",
            Severity::Critical => "critical",
        }
    }

    pub fn parse(raw: &str) -> Result<Self, Reasons> {
        let found = Self::ALL.into_iter().find(|severity| severity.word() == raw);
        found.ok_or_else(|| {
            vec![Reason::not_one_of(
                Code::ChoiceInvalid,
                &Self::ALL.map(Severity::word),
            )]
        })
    }
}
