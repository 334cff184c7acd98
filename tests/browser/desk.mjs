// The desk, mostly with the keyboard: the queue and its filters, assignment, replies and notes, canned replies, history,
// tickets for a customer, closing and reopening.

import assert from "node:assert/strict";
import { HOSTILE, runTest } from "./harness.mjs";

async function queue(grace, { origin }) {
  await grace.waitForURL(/\/desk\/home$/);
  await grace.getByRole("link", { name: "2 open" }).click();
  await grace.waitForURL(/\/desk$/);
  assert.equal(await grace.locator("[data-rows] tbody tr").count(), 2);
  await grace.keyboard.press("/");
  await grace.keyboard.type("bill");
  await grace.getByText("1 ticket", { exact: true }).waitFor();
  await grace.getByLabel("Search").fill("");
  await grace.getByText("2 tickets", { exact: true }).waitFor();
  await grace.getByLabel("Assignee").selectOption("mine");
  await grace.getByText("No tickets match your search.").waitFor();
  await grace.getByRole("link", { name: "Clear search" }).click();
  await grace.getByLabel("Sort by").selectOption("oldest");
  await grace.waitForURL(/order=oldest/);
  await grace.goto(`${origin}/desk`);
}

async function sheet(grace) {
  await grace.keyboard.press("?");
  await grace.locator("dialog").getByText("Reply to the customer").waitFor();
  await grace.keyboard.press("Escape");
  await grace.locator("dialog").waitFor({ state: "detached" });
}

async function claims(grace, linus, { origin, screenshots }) {
  // Select the older ticket, open it and assign it.
  for (const key of ["j", "j", "k", "j", "Enter"]) await grace.keyboard.press(key);
  await grace.waitForURL(/\/desk\/tickets\/1/);
  await grace.keyboard.press("c");
  await grace.getByText("Ticket assigned to you.").waitFor();
  // Reassigning needs a confirmation.
  await linus.goto(`${origin}/desk/tickets/1`);
  await linus.keyboard.press("c");
  await linus.getByText("Check with them before you reassign it.").waitFor();
  await linus.getByRole("button", { name: "Reassign from grace" }).click();
  await linus.getByText("Ticket assigned to you.").waitFor();
  await linus.getByRole("button", { name: "Unassign" }).click();
  await linus.getByText("Ticket unassigned.").waitFor();
  await linus.keyboard.press("a");
  if (screenshots) await linus.screenshot({ path: `${screenshots}/desk-assign.png` });
  await linus.getByLabel("Colleague").selectOption("grace");
  await linus.getByRole("button", { name: "Assign", exact: true }).click();
  await linus.getByText("Ticket assigned.").waitFor();
  await grace.goto(`${origin}/desk/tickets/1`);
  await grace.getByRole("button", { name: "Unassign" }).waitFor();
  const steps = ["assigned the ticket to themselves", "reassigned the ticket from grace to themselves", "unassigned the ticket", "assigned the ticket to grace"];
  for (const step of steps) {
    await grace.locator("#thread").getByText(step).first().waitFor();
  }
}

async function writes(grace, { origin }) {
  // Sending a note preserves an unsent reply, on the page and as a draft.
  await grace.keyboard.press("r");
  await grace.keyboard.type("Half a sen");
  await grace.keyboard.press("Escape");
  await grace.keyboard.press("n");
  await grace.keyboard.type(`Rack 4. ${HOSTILE}`);
  await grace.keyboard.press("Control+Enter");
  await grace.getByText("Internal note saved. Only staff can see it.").waitFor();
  await grace.locator(".message.note", { hasText: "Rack 4." }).waitFor();
  const reply = grace.getByLabel("Reply", { exact: true });
  assert.equal(await reply.inputValue(), "Half a sen");
  // Reloading the page does not send the note again.
  await grace.waitForURL(/\/desk\/tickets\/1$/);
  await grace.goto(`${origin}/desk/tickets/1`);
  await grace.getByText("Restored an unsent draft.").waitFor();
  assert.equal(await reply.inputValue(), "Half a sen");
  await grace.getByRole("button", { name: "Discard draft" }).click();
  assert.equal(await grace.locator("#thread").locator("img, script, svg").count(), 0);
  await grace.keyboard.press("r");
  await grace.keyboard.type("We found it.");
  await grace.getByRole("button", { name: "Send reply to customer" }).click();
  await grace.getByText("Reply sent").waitFor();
  await grace.locator(".message.staff", { hasText: "We found it." }).waitFor();
  // Going back and sending the same text again does not post it twice.
  await grace.goBack();
  await reply.fill("We found it.");
  await grace.getByRole("button", { name: "Send reply to customer" }).click();
  await grace.getByText("It was not sent again.").waitFor();
  assert.equal(await grace.locator(".message.staff", { hasText: "We found it." }).count(), 1);
}

async function canned(grace, { origin }) {
  await grace.getByRole("link", { name: "Canned replies" }).first().click();
  await grace.getByRole("heading", { name: "No canned replies yet" }).waitFor();
  await grace.getByRole("link", { name: "New canned reply" }).first().click();
  await grace.getByLabel("Label").fill("Done");
  await grace.getByLabel("Text").fill("Hello {{customer.username}}, that is **done**.");
  await grace.getByRole("button", { name: "Preview" }).click();
  await grace.locator(".preview strong", { hasText: "done" }).waitFor();
  await grace.getByRole("button", { name: "Save" }).click();
  await grace.getByText("Canned reply saved.").waitFor();
  // The canned reply is previewed on a ticket, edited and sent.
  await grace.goto(`${origin}/desk/tickets/1`);
  // The key focuses the box: the next characters are text, not shortcuts.
  await grace.keyboard.press("r");
  await grace.keyboard.type("no");
  assert.equal(await grace.getByLabel("Reply", { exact: true }).inputValue(), "no");
  await grace.getByLabel("Reply", { exact: true }).fill("");
  await grace.getByLabel("Canned reply").selectOption({ label: "Done" });
  await grace.locator("#canned .md").getByText("Hello ada, that is done.").waitFor();
  // The preview is not the reply yet.
  await grace.getByRole("button", { name: "Send and close" }).click();
  await grace.getByRole("alert").getByText("Press “Insert into reply” first, or write a reply").waitFor();
  await grace.getByRole("button", { name: "Insert into reply" }).click();
  assert.equal(await grace.getByRole("alert").count(), 0, "the error is outdated");
  assert.equal(await grace.getByRole("button", { name: "Send to customer as is" }).count(), 0);
  const reply = grace.getByLabel("Reply", { exact: true });
  await reply.pressSequentially(" Bye.");
  assert.equal(await reply.inputValue(), "Hello ada, that is **done**. Bye.");
  await grace.keyboard.press("Control+Enter");
  await grace.locator(".message.staff strong", { hasText: "done" }).waitFor();
  await grace.goto(`${origin}/desk/canned-replies`);
  await grace.getByRole("link", { name: "Done" }).click();
  await grace.locator("summary", { hasText: "Delete" }).click();
  await grace.getByRole("button", { name: "Delete this canned reply" }).click();
  await grace.getByText("Canned reply deleted.").waitFor();
}

async function handles(grace, { origin }) {
  await grace.goto(`${origin}/desk/tickets/1`);
  await grace.getByLabel("Priority").selectOption("urgent");
  await grace.locator(".handling").getByRole("button", { name: "Save" }).click();
  await grace.getByText("Ticket updated.").waitFor();
  await grace.getByText("changed the priority from normal to urgent").waitFor();
  await grace.getByRole("link", { name: "View subnets and instances" }).click();
  await grace.locator("tr#subnet-1", { hasText: "10.0.0.0/24" }).getByRole("link", { name: "web" }).click();
  await grace.getByText("10.0.0.2 – 10.0.0.253").waitFor();
  await grace.goto(`${origin}/desk/tickets/1`);
  // The key opens the confirmation, and focuses its button.
  await grace.keyboard.press("x");
  await grace.getByRole("button", { name: "Close ticket 1" }).waitFor();
  await grace.keyboard.press("Enter");
  await grace.getByText("Ticket closed.").waitFor();
  await grace.getByRole("button", { name: "Reopen" }).first().click();
  await grace.getByText("Ticket reopened.").waitFor();
}

/** The draft for one account does not appear in the form for another one. */
async function drafts(grace, origin) {
  const text = grace.getByLabel("Message to the customer");
  await grace.goto(`${origin}/desk/tickets/new`);
  await grace.waitForFunction(() => document.activeElement.id === "f-account-id");
  await grace.getByLabel("Account").fill("No such account");
  await text.fill("For someone else.");
  await grace.getByRole("button", { name: "Open ticket for customer" }).click();
  await grace.getByRole("alert").waitFor();
  await grace.goto(`${origin}/desk/tickets/new?account_id=1`);
  await grace.locator("#account-name", { hasText: "@" }).waitFor();
  assert.equal(await text.inputValue(), "");
  assert.equal(await grace.getByLabel("Account").inputValue(), "1");
  await text.fill("For Ada.");
  await grace.goto(`${origin}/desk/tickets/new`);
  await grace.getByText("Restored an unsent draft.").waitFor();
  assert.equal(await text.inputValue(), "For someone else.");
  await grace.getByRole("link", { name: "Cancel" }).click();
  await grace.waitForURL(/\/desk$/);
  await grace.goto(`${origin}/desk/tickets/new`);
  assert.equal(await text.inputValue(), "");
  await grace.goto(`${origin}/desk/tickets/new?account_id=1`);
  await grace.getByText("Restored an unsent draft.").waitFor();
  assert.equal(await text.inputValue(), "For Ada.");
  await grace.getByRole("button", { name: "Discard draft" }).click();
}

async function forCustomer(grace, ada, { origin }) {
  await grace.locator("body").press("t");
  await grace.waitForURL(/\/desk\/tickets\/new/);
  await grace.getByLabel("Account").fill("77");
  await grace.getByText("No account matches.").waitFor();
  await grace.getByLabel("Account").fill("1");
  await grace.locator("#account-name", { hasText: "@" }).waitFor();
  await grace.getByLabel("Subject").fill("Maintenance on Tuesday");
  await grace.locator("#f-about option", { hasText: "core" }).waitFor({ state: "attached" });
  await grace.getByLabel("Regarding").selectOption({ label: "core (1)" });
  await grace.getByLabel("Message to the customer").fill("You need **not** do anything.");
  await grace.getByLabel("Customer can close the ticket").check();
  await grace.getByRole("button", { name: "Open ticket for customer" }).click();
  await grace.getByText("The customer sees it in the console.").waitFor();
  await drafts(grace, origin);
  await ada.goto(`${origin}/tickets`);
  await ada.getByRole("link", { name: "Maintenance on Tuesday" }).click();
  await ada.locator(".message.staff strong", { hasText: "not" }).waitFor();
  await ada.goto(`${origin}/tickets/1`);
  await ada.locator(".message.staff", { hasText: "We found it." }).waitFor();
  assert.equal(await ada.getByText("Rack 4.").count(), 0, "only staff can see notes");
}

await runTest("the desk: queue, assignment, replies and notes, canned replies, history, customer tickets, keyboard", async (harness) => {
  await harness.serve();
  harness.user("ada", "--account", "1");
  for (const name of ["grace", "linus"]) harness.user(name, "--staff");
  const token = harness.garth(["token", "create", "--user", "ada", "--label", "test"]).trim();
  await harness.api(token, "POST", "/vpcs", { label: "core", region: "us-east", subnets: [{ label: "web", ipv4: "10.0.0.0/24" }] });
  await harness.api(token, "POST", "/support/tickets", { summary: "No route", description: "Since noon.", vpc_id: 1 });
  await harness.api(token, "POST", "/support/tickets", { summary: "Our bill", description: "It is wrong." });
  const [ada, grace, linus] = [await harness.logIn("ada"), await harness.logIn("grace"), await harness.logIn("linus")];
  await queue(grace, harness);
  await sheet(grace);
  await claims(grace, linus, harness);
  await writes(grace, harness);
  await canned(grace, harness);
  await handles(grace, harness);
  await forCustomer(grace, ada, harness);
});
