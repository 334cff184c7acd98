// What others do at the desk comes in by itself, and leaves alone what one is at: the row one is on, an open question, a
// choice that is not saved, a half-written text. A ticket that is closed or opened again elsewhere gets the boxes it needs,
// and a page whose session has ended says so.

import assert from "node:assert/strict";
import { play } from "./harness.mjs";

const focused = (page) => page.evaluate(() => document.activeElement.getAttribute("href"));

/** The queue grows above the row one is on. */
async function row(grace, open) {
  await grace.getByText("1 ticket", { exact: true }).waitFor();
  await grace.keyboard.press("j");
  assert.equal(await focused(grace), "/desk/tickets/1");
  await open("Our bill");
  await grace.getByText("2 tickets", { exact: true }).waitFor();
  await grace.waitForFunction(() => document.activeElement.getAttribute("href") === "/desk/tickets/1");
  await grace.keyboard.press("k");
  assert.equal(await focused(grace), "/desk/tickets/2", "the keys go on from the same row");
}

/** A note of a colleague comes in while one is about to close, and to save another priority. */
async function questions(grace, note, { origin }) {
  await grace.goto(`${origin}/desk/tickets/1`);
  await grace.getByLabel("Priority").selectOption("urgent");
  const close = grace.locator("details.confirm", { has: grace.locator("summary", { hasText: "Close" }) });
  await close.locator("summary").click();
  await note("Rack 4.");
  await grace.locator("#thread").getByText("Rack 4.").waitFor();
  await grace.locator("#arrived").getByText("linus wrote an internal note").waitFor();
  assert.ok(await close.getByRole("button", { name: "Close ticket 1" }).isVisible(), "the question is still open");
  assert.equal(await grace.getByLabel("Priority").inputValue(), "urgent", "the choice is still made");
  await grace.keyboard.press("Escape");
  // A choice that nobody has touched follows what a colleague sets.
  await grace.goto(`${origin}/desk/tickets/2`);
}

async function follows(grace, prioritise) {
  await prioritise("high");
  await grace.locator("#thread").getByText("changed the priority from normal to high").waitFor();
  assert.equal(await grace.getByLabel("Priority").inputValue(), "high");
}

/** Closed and opened again by a colleague, with a half-written reply in between. */
async function otherBoxes(grace, act, { origin }) {
  await grace.goto(`${origin}/desk/tickets/1`);
  const reply = grace.getByLabel("Reply", { exact: true });
  await reply.fill("Half a sen");
  await act("close");
  await grace.getByText("This ticket is closed. Reopen it to reply.").waitFor();
  assert.equal(await reply.count(), 0);
  await act("reopen");
  await grace.getByText("Restored an unsent draft.").waitFor();
  assert.equal(await reply.inputValue(), "Half a sen");
}

/** The same person logs out in another tab. */
async function loggedOut(grace, note, stage) {
  const other = await grace.context().newPage();
  // Streams and parts of pages are turned away now, which a browser tells on its console.
  await stage.offline(async () => {
    await other.goto(`${stage.origin}/logout`);
    const button = other.getByRole("button", { name: "Log out" });
    if (await button.count()) await button.click();
    await other.close();
    await note("Nobody reads this.");
    await grace.getByText("You are logged out.").waitFor();
    assert.equal(await grace.getByRole("link", { name: "Log in again" }).getAttribute("href"), `${stage.origin}/desk/tickets/1`);
    assert.equal(await grace.getByText("Nobody reads this.").count(), 0);
  });
}

await play("the desk while others work: the row, questions, choices and texts one is at; closing elsewhere; logged out", async (stage) => {
  await stage.serve();
  stage.user("ada", "--account", "1");
  for (const name of ["grace", "linus"]) stage.user(name, "--staff");
  const token = (user) => stage.garth(["token", "create", "--user", user, "--label", "test"]).trim();
  const [ada, linus] = [token("ada"), token("linus")];
  const open = (summary) => stage.api(ada, "POST", "/support/tickets", { summary, description: "Please." });
  const note = (description) => stage.api(linus, "POST", "/desk/tickets/1/notes", { description });
  await open("No route");
  const grace = await stage.enter("grace");
  await row(grace, open);
  await questions(grace, note, stage);
  await follows(grace, (priority) => stage.api(linus, "PUT", "/desk/tickets/2", { priority }));
  await otherBoxes(grace, (deed) => stage.api(linus, "POST", `/desk/tickets/1/${deed}`), stage);
  await loggedOut(grace, note, stage);
});
