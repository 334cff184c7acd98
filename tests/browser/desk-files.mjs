// Files of staff, thumbnails and merges at the desk.

import assert from "node:assert/strict";
import { runTest } from "./harness.mjs";

/** A PNG image of one pixel. */
const PNG = Buffer.from(
  "iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAACklEQVR4nGMAAQAABQABDQottAAAAABJRU5ErkJggg==",
  "base64",
);
const image = (name) => ({ name, mimeType: "image/png", buffer: PNG });
const text = (name) => ({ name, mimeType: "text/plain", buffer: Buffer.from("eth1: no carrier") });

/** Waits until an image of the page was loaded and decoded. */
async function isShown(page, selector) {
  const shown = page.locator(selector).first();
  await shown.scrollIntoViewIfNeeded();
  for (let attempts = 0; attempts < 50; attempts++) {
    if ((await shown.evaluate((one) => one.naturalWidth)) === 1) return;
    await page.waitForTimeout(100);
  }
  assert.fail(`${selector} was not loaded`);
}

async function replyWithFiles(staff, ada, { origin }, ticket) {
  await staff.goto(`${origin}/desk/tickets/${ticket}`);
  await staff.getByLabel("Reply", { exact: true }).fill("See the files.");
  await staff.getByLabel("Files optional").setInputFiles([text("trace.txt"), image("shot.png")]);
  await staff.getByRole("button", { name: "Send reply to customer" }).click();
  await staff.getByText("Reply sent.").waitFor();
  await isShown(staff, "aside .files img");
  await ada.goto(`${origin}/tickets/${ticket}`);
  await ada.getByText("See the files.").waitFor();
  await isShown(ada, "#files img");
  const download = ada.waitForEvent("download");
  await ada.getByRole("link", { name: "Download shot.png" }).click();
  assert.equal((await download).suggestedFilename(), "shot.png");
}

async function refusedFile(staff, { origin }, ticket) {
  await staff.goto(`${origin}/desk/tickets/${ticket}`);
  await staff.getByLabel("Reply", { exact: true }).fill("My long text");
  await staff.getByLabel("Files optional").setInputFiles([{ ...text("a.exe") }]);
  await staff.getByRole("button", { name: "Send reply to customer" }).click();
  await staff.getByRole("alert").waitFor();
  assert.equal(await staff.getByLabel("Reply", { exact: true }).inputValue(), "My long text");
  assert.ok(!staff.url().includes("token"), staff.url());
}

async function merge(staff, ada, { origin }, source, target) {
  await staff.goto(`${origin}/desk/tickets/${source}`);
  await staff.getByRole("link", { name: "Merge into…" }).click();
  await staff.locator("#q").fill("bill");
  await staff.locator("main .search").getByRole("button", { name: "Search" }).click();
  await staff.waitForURL(/q=bill/);
  await staff.getByRole("link", { name: "Our bill" }).click();
  await staff.getByText("A merge cannot be undone.").waitFor();
  await staff.getByRole("button", { name: `Merge into ticket ${target}` }).click();
  await staff.getByText("Tickets merged.").waitFor();
  assert.equal(new URL(staff.url()).pathname, `/desk/tickets/${target}`);
  await ada.goto(`${origin}/tickets/${source}`);
  await ada.getByText("The conversation continues there.").first().waitFor();
  await ada.getByRole("link", { name: `ticket ${target}` }).first().click();
  await ada.getByText("was merged into this ticket.").last().waitFor();
}

/** All filters of the queue are in one row on a large screen. */
async function filters(staff, { origin }) {
  await staff.setViewportSize({ width: 1440, height: 900 });
  await staff.goto(`${origin}/desk`);
  const fields = await staff.locator(".filters .field").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top));
  assert.equal(new Set(fields).size, 1, `${fields}`);
}

/** A note is saved while a file is selected for a reply. */
async function noteBeforeReply(staff, { origin }, ticket) {
  await staff.goto(`${origin}/desk/tickets/${ticket}`);
  await staff.getByLabel("Files optional").setInputFiles([text("trace.txt"), image("shot.png")]);
  await staff.locator("summary", { hasText: "Internal note" }).click();
  await staff.getByLabel("Note", { exact: true }).fill("Rack 4.");
  await staff.getByRole("button", { name: "Save internal note" }).click();
  await staff.getByText("Internal note saved.").waitFor();
  await staff.getByText("Files that were not attached: trace.txt, shot.png. Select them again before you send the reply.").waitFor();
}

/** The sidebar is a part of the page. It stays in view only if all of it fits into the window. */
async function sidebar(staff, { origin }) {
  await staff.goto(`${origin}/desk/tickets/1`);
  const place = () => staff.locator("#context").evaluate((one) => ({
    isCut: one.scrollHeight > one.clientHeight + 1, position: getComputedStyle(one).position,
    isWide: document.documentElement.scrollWidth > document.documentElement.clientWidth,
  }));
  for (const [width, height, position] of [[390, 800, "static"], [768, 1024, "static"], [1440, 400, "static"], [1440, 2000, "sticky"]]) {
    await staff.setViewportSize({ width, height });
    await staff.waitForFunction((position) => getComputedStyle(document.querySelector("#context")).position === position, position);
    assert.deepEqual(await place(), { isCut: false, position, isWide: false });
  }
}

await runTest("the desk: files of staff, thumbnails and merges, with and without scripts", async (harness) => {
  harness.env.GARTH_DESK_FIRST_RESPONSE_MINUTES = "normal=90";
  await harness.serve();
  harness.user("ada", "--account", "1");
  harness.user("grace", "--staff");
  const token = harness.garth(["token", "create", "--user", "ada", "--label", "test"]).trim();
  for (const summary of ["No route", "Our bill", "Still no route", "No route again"]) {
    await harness.api(token, "POST", "/support/tickets", { summary, description: "Since noon." });
  }
  const ada = await harness.logIn("ada");
  const [grace, plain] = [await harness.logIn("grace"), await harness.logIn("grace", { javaScriptEnabled: false })];
  await replyWithFiles(grace, ada, harness, 1);
  await replyWithFiles(plain, ada, harness, 3);
  await refusedFile(grace, harness, 1);
  await refusedFile(plain, harness, 3);
  await noteBeforeReply(grace, harness, 1);
  await noteBeforeReply(plain, harness, 3);
  await filters(grace, harness);
  await sidebar(grace, harness);
  await merge(grace, ada, harness, 3, 2);
  await merge(plain, ada, harness, 4, 2);
});
