// Live updates at the desk preserve the focused row, an open confirmation, an unsaved selection and unsent text. When a
// colleague closes or reopens a ticket, the right boxes appear. A page whose session has ended shows a message.

import assert from "node:assert/strict";
import { runTest } from "./harness.mjs";

const focused = (page) => page.evaluate(() => document.activeElement.getAttribute("href"));

/** A new ticket appears above the focused row. */
async function row(grace, open) {
  await grace.getByText("1 ticket", { exact: true }).waitFor();
  await grace.keyboard.press("j");
  assert.equal(await focused(grace), "/desk/tickets/1");
  await open("Our bill");
  await grace.getByText("2 tickets", { exact: true }).waitFor();
  await grace.waitForFunction(() => document.activeElement.getAttribute("href") === "/desk/tickets/1");
  await grace.keyboard.press("k");
  assert.equal(await focused(grace), "/desk/tickets/2", "the keys continue from the same row");
}

/** A note of a colleague arrives while a confirmation is open and a priority is selected. */
async function confirmations(grace, note, { origin }) {
  await grace.goto(`${origin}/desk/tickets/1`);
  await grace.getByLabel("Priority").selectOption("urgent");
  const close = grace.locator("details.confirm", { has: grace.locator("summary", { hasText: "Close" }) });
  await close.locator("summary").click();
  await note("Rack 4.");
  await grace.locator("#thread").getByText("Rack 4.").waitFor();
  await grace.locator("#arrived").getByText("linus wrote an internal note").waitFor();
  assert.ok(await close.getByRole("button", { name: "Close ticket 1" }).isVisible(), "the confirmation is still open");
  assert.equal(await grace.getByLabel("Priority").inputValue(), "urgent", "the selection is preserved");
  await grace.keyboard.press("Escape");
  // An untouched selection follows the change of a colleague.
  await grace.goto(`${origin}/desk/tickets/2`);
}

async function follows(grace, prioritize) {
  await prioritize("high");
  await grace.locator("#thread").getByText("changed the priority from normal to high").waitFor();
  assert.equal(await grace.getByLabel("Priority").inputValue(), "high");
}

/** A colleague closes and reopens the ticket while a reply is being written. */
async function otherBoxes(grace, act, { origin }) {
  await grace.goto(`${origin}/desk/tickets/1`);
  const reply = grace.getByLabel("Reply", { exact: true });
  await reply.fill("Half a sen");
  await grace.getByLabel("Files optional").setInputFiles([{ name: "trace.txt", mimeType: "text/plain", buffer: Buffer.from("eth1") }]);
  await act("close");
  await grace.getByText("This ticket is closed. Reopen it to reply or to assign it.").waitFor();
  assert.equal(await reply.count(), 0);
  await grace.getByText("Your text is preserved. Reopen the ticket to send it.").waitFor();
  assert.equal(await grace.getByLabel("Your unsent text").inputValue(), "Half a sen");
  await grace.getByText("Files that were not attached: trace.txt. Reopen the ticket, then select them again.").waitFor();
  await grace.getByRole("button", { name: "Copy text" }).click();
  await grace.getByRole("button", { name: /Copied|Press Ctrl\+C/ }).waitFor();
  await act("reopen");
  await grace.getByText("Restored an unsent draft. Select these files again: trace.txt.").waitFor();
  assert.equal(await reply.inputValue(), "Half a sen");
}

/** The user logs out in another tab. */
async function loggedOut(grace, note, harness) {
  const other = await grace.context().newPage();
  // The stream and htmx requests fail now, which the browser logs on its console.
  await harness.whileOffline(async () => {
    await other.goto(`${harness.origin}/logout`);
    const button = other.getByRole("button", { name: "Log out" });
    if (await button.count()) await button.click();
    await other.close();
    await note("Not delivered.");
    await grace.getByText("You are logged out.").waitFor();
    assert.equal(await grace.getByRole("link", { name: "Log in again" }).getAttribute("href"), `${harness.origin}/desk/tickets/1`);
    assert.equal(await grace.getByText("Not delivered.").count(), 0);
  });
}

await runTest("live updates at the desk: focused row, confirmations, selections, unsent text, closing, log-out", async (harness) => {
  await harness.serve();
  harness.user("ada", "--account", "1");
  for (const name of ["grace", "linus"]) harness.user(name, "--staff");
  const token = (user) => harness.garth(["token", "create", "--user", user, "--label", "test"]).trim();
  const [ada, linus] = [token("ada"), token("linus")];
  const open = (summary) => harness.api(ada, "POST", "/support/tickets", { summary, description: "Please." });
  const note = (description) => harness.api(linus, "POST", "/desk/tickets/1/notes", { description });
  await open("No route");
  const grace = await harness.logIn("grace");
  await grace.goto(`${harness.origin}/desk`);
  await row(grace, open);
  await confirmations(grace, note, harness);
  await follows(grace, (priority) => harness.api(linus, "PUT", "/desk/tickets/2", { priority }));
  await otherBoxes(grace, (action) => harness.api(linus, "POST", `/desk/tickets/1/${action}`), harness);
  await loggedOut(grace, note, harness);
});
