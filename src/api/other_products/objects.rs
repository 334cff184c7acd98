//! Single objects of products that Garth does not have. They are the same for all accounts.

use std::hash::Hash;

use axum::response::Response;
use serde::Serialize;

use crate::api::handlers::{ViewContext, view};
use crate::rules::caller::Caller;
use crate::web::answer;
use crate::web::operation::{Handling, Operation, get};

pub fn operations() -> Vec<Operation> {
    vec![
        get(
            "getFirewallSettings",
            "/networking/firewalls/settings",
            fixed(&FIREWALL_SETTINGS),
        )
        .of_family("firewall"),
        get("getLongviewPlan", "/longview/plan", fixed(&LongviewPlanView {})).of_family("longview"),
        get("getAgreements", "/account/agreements", fixed(&AGREEMENTS)).on_account(),
        get(
            "getSecurityQuestions",
            "/profile/security-questions",
            fixed(&SECURITY_QUESTIONS),
        )
        .on_account(),
    ]
}

#[derive(Hash, Serialize)]
struct FirewallSettingsView {
    default_firewall_ids: DefaultFirewallsView,
}

#[derive(Hash, Serialize)]
struct DefaultFirewallsView {
    linode: Option<i64>,
    nodebalancer: Option<i64>,
    public_interface: Option<i64>,
    vpc_interface: Option<i64>,
}

static FIREWALL_SETTINGS: FirewallSettingsView = FirewallSettingsView {
    default_firewall_ids: DefaultFirewallsView {
        linode: None,
        nodebalancer: None,
        public_interface: None,
        vpc_interface: None,
    },
};

#[derive(Hash, Serialize)]
struct LongviewPlanView {}

/// All agreements count as accepted, so that the web app does not prompt for them.
#[derive(Hash, Serialize)]
struct AgreementsView {
    privacy_policy: bool,
    eu_model: bool,
    master_service_agreement: bool,
    billing_agreement: bool,
}

static AGREEMENTS: AgreementsView = AgreementsView {
    privacy_policy: true,
    eu_model: true,
    master_service_agreement: true,
    billing_agreement: true,
};

#[derive(Hash, Serialize)]
struct SecurityQuestionsView {
    security_questions: [QuestionView; 6],
}

#[derive(Hash, Serialize)]
struct QuestionView {
    id: i64,
    question: &'static str,
    response: Option<&'static str>,
}

static SECURITY_QUESTIONS: SecurityQuestionsView = SecurityQuestionsView {
    security_questions: [
        question(1, "What was the name of your first pet?"),
        question(2, "In what city were you born?"),
        question(3, "What was the name of your first school?"),
        question(4, "What was the model of your first car?"),
        question(5, "What is the name of the street where you grew up?"),
        question(6, "What was your first job?"),
    ],
};

/// A question without an answer, because users cannot answer the questions.
const fn question(id: i64, question: &'static str) -> QuestionView {
    QuestionView {
        id,
        question,
        response: None,
    }
}

fn fixed<V: Hash + Serialize + Sync>(object: &'static V) -> Handling {
    let view_of = move |_: &(), _: &ViewContext| -> Response { answer::one(object, object) };
    view(|_, _: &Caller| Ok(()), view_of)
}
