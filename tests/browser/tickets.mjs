// Tickets of a tenant: opening with a resource, Markdown, files and drafts, replying and closing. Hostile text is
// escaped.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { HOSTILE, runTest } from "./harness.mjs";

async function open(page, { origin, folder }) {
  await page.goto(`${origin}/tickets`);
  await page.getByRole("heading", { name: "No tickets yet" }).waitFor();
  await page.getByRole("main").getByRole("link", { name: "Open a ticket" }).first().click();

  // A draft is restored.
  await page.getByLabel("Subject").fill("It is broken <script>alert(2)</script>");
  await page.getByLabel("Description").fill(`**Loud**\n\n- one\n- two\n\n\`code\`\n\n${HOSTILE}`);
  await page.goto(`${origin}/tickets`);
  await page.goto(`${origin}/tickets/new`);
  await page.getByText("Restored an unsent draft").waitFor();
  assert.match(await page.getByLabel("Description").inputValue(), /Loud/);

  // The list of resources can be filtered, and files are checked before they are sent.
  await page.getByLabel("Filter the list").fill("spare");
  await page.locator("#f-about option", { hasText: "core" }).waitFor({ state: "detached" });
  await page.getByLabel("Filter the list").fill("core");
  await page.locator("#f-about option", { hasText: "core" }).waitFor({ state: "attached" });
  await page.getByLabel("Regarding").selectOption({ label: "core (1)" });
  writeFileSync(join(folder, "log.txt"), "hop\n".repeat(5000));
  writeFileSync(join(folder, "bad.exe"), "MZ");
  await page.locator("[data-drop] input[type=file]").setInputFiles([join(folder, "log.txt"), join(folder, "bad.exe")]);
  await page.locator("[data-drop]").getByText("Accepted types:").waitFor();
  await page.getByRole("button", { name: "Preview" }).click();
  await page.locator(".preview strong", { hasText: "Loud" }).waitFor();
  await page.getByRole("button", { name: "Open ticket" }).click();
  await page.waitForURL(/\/tickets\/1\?done=/);
  await page.getByRole("alert").getByText("Not attached: bad.exe: Accepted types").waitFor();
}

async function read(page, { origin }) {
  const thread = page.locator("#thread");
  await thread.locator("strong", { hasText: "Loud" }).waitFor();
  assert.equal(await thread.locator("li").count(), 2);
  assert.equal(await thread.locator("img, script, svg, a[href^=javascript]").count(), 0, "nothing hostile became an element");
  await page.locator("#head").getByRole("link", { name: "core" }).waitFor();
  await page.getByRole("link", { name: "log.txt" }).waitFor();
  assert.match(await page.locator("time").first().getAttribute("title"), / UTC$/);
  const [download] = await Promise.all([page.waitForEvent("download"), page.getByRole("link", { name: "log.txt" }).click()]);
  assert.equal(download.suggestedFilename(), "log.txt");
  await page.goto(`${origin}/tickets/new`);
  assert.equal(await page.getByLabel("Description").inputValue(), "", "a sent text is not a draft");
  // A file that is dropped on the ticket appears without a reload. A log gets the extension of a text.
  await page.goto(`${origin}/tickets/1`);
  const dropped = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["hello"], "more.log"));
    return transfer;
  });
  await page.dispatchEvent("[data-drop]", "drop", { dataTransfer: dropped });
  await page.getByRole("link", { name: "more.log.txt" }).waitFor();
}

async function replyAndClose(page, { origin }, colleague) {
  await page.getByLabel("Your reply").fill("It *still* is.");
  await page.getByRole("button", { name: "Send reply" }).click();
  await page.getByText("Reply sent.").waitFor();
  await page.locator("#thread em", { hasText: "still" }).waitFor();
  // Going back and sending the same text again does not post it twice.
  await page.goBack();
  await page.getByLabel("Your reply").fill("It *still* is.");
  await page.getByRole("button", { name: "Send reply" }).click();
  await page.getByText("It was not sent again").waitFor();
  assert.equal(await page.locator("#thread em", { hasText: "still" }).count(), 1);
  // A log-out link in a text needs a confirmation.
  await page.getByLabel("Your reply").fill(`Look: ${origin}/logout`);
  await page.getByRole("button", { name: "Send reply" }).click();
  const [opened] = await Promise.all([page.waitForEvent("popup"), page.getByRole("link", { name: "/logout" }).click()]);
  await opened.getByRole("heading", { name: "Log out?" }).waitFor();
  await opened.close();
  await page.reload();
  // Closing needs a confirmation; a click elsewhere cancels it.
  await page.locator("summary", { hasText: "Close ticket" }).click();
  await page.getByText("Close this ticket?").waitFor();
  await page.getByRole("heading", { level: 1 }).click();
  await page.getByText("Close this ticket?").waitFor({ state: "hidden" });
  await page.locator("summary", { hasText: "Close ticket" }).click();
  await page.getByRole("button", { name: "Close ticket 1" }).click();
  await page.getByText("Ticket closed.").waitFor();
  await page.goto(`${origin}/tickets`);
  await page.getByText("No open tickets").waitFor();
  await page.getByRole("link", { name: "Closed 1" }).click();
  await page.getByRole("link", { name: /It is broken/ }).waitFor();
  // The bar counts the events of other users until they are marked as seen.
  const unseen = Number.parseInt(await page.locator(".unseen").innerText(), 10);
  assert.equal(unseen, 2, "the events of both new users");
  await colleague();
  await page.locator(".unseen", { hasText: `${unseen + 1}` }).waitFor();
  await page.getByRole("link", { name: "Activity" }).click();
  await page.getByText("opened the ticket").waitFor();
  await isLocal(page);
  await page.getByRole("button", { name: "Mark all as seen" }).click();
  await page.getByText("All events marked as seen.").waitFor();
  assert.equal(await page.locator(".unseen").count(), 0);
}

/** The events are grouped by days in the time zone of the browser, and have times in this zone. */
async function isLocal(page) {
  const days = await page.locator(".day").evaluateAll((days) => days.map((day) => {
    const entries = [...day.querySelectorAll("ol > li > time")].map((time) => ({ at: new Date(time.dateTime), shown: time.textContent, title: time.title }));
    return { heading: day.querySelector("h2").textContent, entries: entries.map(({ at, ...texts }) => ({
      day: new Intl.DateTimeFormat("en-GB", { dateStyle: "full", timeZone: "Asia/Tokyo" }).format(at),
      clock: new Intl.DateTimeFormat("en-GB", { timeStyle: "short", timeZone: "Asia/Tokyo" }).format(at), ...texts })) };
  }));
  assert.ok(days.length > 0);
  for (const { heading, entries } of days) {
    assert.ok(entries.length > 0);
    for (const { day, clock, shown, title } of entries) {
      assert.deepEqual([heading, shown], [day, clock]);
      assert.match(title, /GMT\+9 · .* UTC$/);
    }
  }
}

async function logOut(page, { origin }) {
  // Confirming logs out.
  await page.goto(`${origin}/tickets/1`);
  const [opened] = await Promise.all([page.waitForEvent("popup"), page.getByRole("link", { name: "/logout" }).click()]);
  await opened.getByRole("link", { name: "Log out" }).click();
  await opened.getByRole("heading", { name: "Logged out" }).waitFor();
  await page.goto(`${origin}/tickets`);
  await page.getByRole("heading", { name: "Log in" }).waitFor();
}

await runTest("a tenant's tickets: subject, Markdown, files, drafts, reply, closing, events", async (harness) => {
  await harness.serve();
  harness.user("ada", "--account", "1");
  const token = harness.garth(["token", "create", "--user", "ada", "--label", "test"]).trim();
  for (const label of ["core", "spare"]) await harness.api(token, "POST", "/vpcs", { label, region: "us-east" });
  const page = await harness.logIn("ada");
  await open(page, harness);
  await read(page, harness);
  harness.user("bob", "--account", "1");
  const another = harness.garth(["token", "create", "--user", "bob", "--label", "test"]).trim();
  await replyAndClose(page, harness, () => harness.api(another, "POST", "/vpcs", { label: "edge", region: "us-east" }));
  await logOut(page, harness);
});
