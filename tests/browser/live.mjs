// Several concurrent browsers: lists and threads update without a reload, unsent text is preserved, staff see which
// colleagues have the ticket open, and pages report a lost connection.

import assert from "node:assert/strict";
import { runTest } from "./harness.mjs";

/** Marks a page, to detect a reload. */
const mark = (page) => page.evaluate(() => { globalThis.sameAsBefore = true; });
const assertSame = async (page, who) => assert.ok(await page.evaluate(() => globalThis.sameAsBefore), `${who}'s page was reloaded`);

async function lists(ada, bob, grace, { origin }) {
  await bob.goto(`${origin}/tickets`);
  await grace.goto(`${origin}/desk`);
  await mark(bob);
  await mark(grace);
  const unseen = Number.parseInt(await bob.locator(".unseen").innerText(), 10);
  await ada.goto(`${origin}/tickets/new`);
  await ada.getByLabel("Subject").fill("No route");
  await ada.getByLabel("Description").fill("Please.");
  await ada.getByRole("button", { name: "Open ticket" }).click();
  await grace.locator("[data-rows]").getByText("No route").waitFor();
  await bob.locator("#list").getByText("No route").waitFor();
  await bob.locator(".unseen", { hasText: `${unseen + 1}` }).waitFor();
  await assertSame(bob, "bob");
  await assertSame(grace, "grace");
}

async function threads(ada, grace, linus, { origin }) {
  await ada.goto(`${origin}/tickets/1`);
  await grace.goto(`${origin}/desk/tickets/1`);
  await linus.goto(`${origin}/desk/tickets/1`);
  await grace.getByText("linus is also viewing this ticket.").waitFor();
  await linus.getByText("grace is also viewing this ticket.").waitFor();
  await mark(ada);
  await mark(grace);
  await linus.keyboard.press("n");
  await linus.keyboard.type("Rack 4.");
  await linus.keyboard.press("Control+Enter");
  await grace.getByText("Rack 4.").waitFor();

  // An update of the thread preserves the unsent text.
  await grace.keyboard.press("r");
  await grace.keyboard.type("We found it.");
  await linus.keyboard.press("r");
  await linus.keyboard.type("One moment.");
  await linus.keyboard.press("Control+Enter");
  await grace.locator("#thread").getByText("One moment.").waitFor();
  await ada.locator("#thread").getByText("One moment.").waitFor();
  const box = grace.getByLabel("Reply", { exact: true });
  assert.equal(await box.inputValue(), "We found it.");
  // Updates are listed next to the box, with links.
  await grace.locator(".compose").getByText("Also viewing: linus").waitFor();
  const news = grace.locator("#arrived");
  await news.getByRole("link", { name: "linus wrote an internal note" }).waitFor();
  await news.getByRole("link", { name: "linus replied" }).click();
  await grace.locator(".thread > :target", { hasText: "One moment." }).waitFor();
  assert.equal(await box.inputValue(), "We found it.");
  await ada.getByLabel("Your reply").fill("And now?");
  await ada.getByRole("button", { name: "Send reply" }).click();
  await ada.getByText("Reply sent.").waitFor();
  await mark(ada);
  await news.getByRole("link", { name: "ada replied" }).waitFor();
  assert.equal(await news.getAttribute("role"), "status");
  assert.equal(await box.inputValue(), "We found it.");
  await assertSame(grace, "grace");
  await grace.getByRole("button", { name: "Send reply to customer" }).click();
  await grace.getByText("Reply sent").waitFor();
  await ada.locator("#thread").getByText("We found it.").waitFor();
  await assertSame(ada, "ada");
  assert.equal(await ada.getByText("Rack 4.").count(), 0);
  await linus.context().close();
  await grace.getByText("linus is also viewing this ticket.").waitFor({ state: "detached" });
}

/** The server restarts: pages report the lost connection, reconnect and show the changes. */
async function reconnects(ada, grace, harness) {
  await harness.whileOffline(async () => {
    await harness.stop();
    await ada.getByText("Connection lost").waitFor();
    harness.garth(["desk", "reply", "1", "Sent during the outage.", "--as", "grace"]);
    await harness.serve();
    await ada.locator("#thread").getByText("Sent during the outage.").waitFor();
    await grace.locator("#thread").getByText("Sent during the outage.").waitFor();
    await ada.getByText("Connection lost").waitFor({ state: "hidden" });
  });
  await assertSame(ada, "ada");
}

/** A ticket is closed while the customer is writing. */
async function closed(ada, harness) {
  await ada.getByLabel("Your reply").fill("One more thing.");
  harness.garth(["desk", "close", "1", "--as", "grace"]);
  await ada.getByText("This ticket was closed. Your text").waitFor();
  assert.equal(await ada.getByLabel("Your reply").inputValue(), "One more thing.");
}

await runTest("four concurrent browsers: live lists, threads and viewers, and a lost connection", async (harness) => {
  await harness.serve();
  for (const name of ["ada", "bob"]) harness.user(name, "--account", "1");
  for (const name of ["grace", "linus"]) harness.user(name, "--staff");
  const [ada, bob, grace, linus] = [await harness.logIn("ada"), await harness.logIn("bob"), await harness.logIn("grace"), await harness.logIn("linus")];
  await lists(ada, bob, grace, harness);
  await threads(ada, grace, linus, harness);
  await reconnects(ada, grace, harness);
  await closed(ada, harness);
});
