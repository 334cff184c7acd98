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
    security_questions: [QuestionView; 19],
}

#[derive(Hash, Serialize)]
struct QuestionView {
    id: i64,
    question: &'static str,
    response: Option<&'static str>,
}

/// The IDs and subjects are those of the public service. No client compares a text except the first.
static SECURITY_QUESTIONS: SecurityQuestionsView = SecurityQuestionsView {
    security_questions: [
        question(1, "What was the name of your first pet?"),
        question(2, "What is your oldest sibling called?"),
        question(3, "Which concert was your first?"),
        question(4, "Which make and model was your first car?"),
        question(5, "In which town did your parents meet?"),
        question(6, "To which college did you apply without attending it?"),
        question(7, "Which school trip do you remember best?"),
        question(8, "Which teacher influenced you most?"),
        question(9, "To which city was your first flight?"),
        question(10, "On which street did your best friend in high school live?"),
        question(11, "Which city do you like best?"),
        question(12, "Which artist do you like best?"),
        question(13, "What was your grandmother's maiden name?"),
        question(14, "Who was your first roommate?"),
        question(15, "In which town was your first job?"),
        question(16, "Which author do you like best?"),
        question(17, "In which hospital were you born?"),
        question(18, "Which sports team do you like to see lose?"),
        question(19, "On which street do you buy groceries?"),
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
