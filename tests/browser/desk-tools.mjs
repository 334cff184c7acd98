// Tags, targets, saved views and reports of the desk.

import assert from "node:assert/strict";
import { runTest } from "./harness.mjs";

async function tags(grace, { origin }) {
  await grace.goto(`${origin}/desk/tickets/1`);
  await grace.getByLabel("Tags, separated by commas").fill("Network, rack 4");
  await grace.locator(".handling").getByRole("button", { name: "Save" }).click();
  await grace.getByText("Ticket updated.").waitFor();
  await grace.getByText("set the tags to network, rack 4").waitFor();
  await grace.goto(`${origin}/desk`);
  await grace.getByLabel("Tag", { exact: true }).fill("network");
  await grace.keyboard.press("Tab");
  await grace.getByText("1 ticket", { exact: true }).waitFor();
}

async function targets(grace, { origin }) {
  await grace.goto(`${origin}/desk`);
  await grace.getByRole("columnheader", { name: "Time left" }).waitFor();
  await grace.locator("[data-rows] tbody tr", { hasText: "Our bill" }).getByText(/^1 h (29|30) min$/).waitFor();
  await grace.locator("[data-rows] tbody tr", { hasText: "Our bill" }).getByText("first response").waitFor();
  // The default order is that by the time left. With closed tickets, it is the newest first.
  const order = () => grace.getByLabel("Sort by").evaluate((select) => select.selectedOptions[0].textContent);
  assert.equal(await order(), "Time left");
  await grace.getByLabel("Status").selectOption("closed");
  await grace.getByText("No tickets match your search.").waitFor();
  assert.equal(await order(), "Newest first");
  await grace.getByLabel("Status").selectOption("");
  await grace.getByText("2 tickets", { exact: true }).waitFor();
  await grace.getByLabel("Sort by").selectOption("newest");
  await grace.waitForURL(/order=newest/);
  await grace.goto(`${origin}/desk/tickets/2`);
  await grace.locator("#head").getByText("First response").waitFor();
}

async function views(grace, linus, { origin }) {
  await grace.goto(`${origin}/desk`);
  await grace.getByLabel("Assignee").selectOption("unassigned");
  const save = grace.getByRole("link", { name: "Save this view" });
  await save.waitFor();
  await save.focus();
  await grace.keyboard.press("Enter");
  await grace.waitForURL(/\/desk\/views\/new\?claim=unassigned/);
  // The first field has the focus.
  await grace.locator("main input:focus").waitFor();
  await grace.keyboard.type("Unassigned tickets");
  await grace.getByLabel("Share with all staff").check();
  await grace.keyboard.press("Control+Enter");
  await grace.getByText("View saved.").waitFor();
  await linus.goto(`${origin}/desk`);
  await linus.getByRole("link", { name: "Unassigned tickets" }).click();
  await linus.waitForURL(/\/desk\?claim=unassigned/);
  assert.equal(await linus.getByRole("link", { name: "Unassigned tickets" }).getAttribute("aria-current"), "page");
  await linus.getByRole("link", { name: "Manage views" }).click();
  await linus.getByRole("button", { name: "Delete Unassigned tickets" }).click();
  await linus.getByText("View deleted.").waitFor();
}

async function reports(grace, { origin }) {
  await grace.goto(`${origin}/desk`);
  await grace.getByRole("link", { name: "Reports" }).click();
  await grace.getByRole("img", { name: "Tickets opened and closed by day" }).waitFor();
  await grace.locator("summary", { hasText: "Figures by day" }).focus();
  await grace.keyboard.press("Enter");
  await grace.getByRole("columnheader", { name: "Day" }).waitFor();
  await grace.getByRole("link", { name: "network" }).waitFor();
  const today = new Date().toISOString().slice(0, 10);
  await grace.getByLabel("First day (UTC)").fill(today);
  await grace.getByRole("button", { name: "Show" }).click();
  await grace.waitForURL(new RegExp(`from=${today}`));
  assert.match(await grace.getByRole("link", { name: "Export CSV" }).getAttribute("href"), new RegExp(`from=${today}`));
  const download = grace.waitForEvent("download");
  await grace.getByRole("link", { name: "Export CSV" }).click();
  assert.equal((await download).suggestedFilename(), "desk-report.csv");
}

/** The same tasks without scripts. */
async function withoutScript(page, { origin }) {
  await page.goto(`${origin}/desk`);
  await page.getByLabel("Tag", { exact: true }).fill("network");
  await page.getByRole("button", { name: "Search" }).click();
  await page.getByText("1 ticket", { exact: true }).waitFor();
  await page.getByRole("link", { name: "Save this view" }).click();
  await page.getByLabel("Label").fill("Network");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("View saved.").waitFor();
  await page.getByRole("link", { name: "Network", exact: true }).click();
  await page.getByRole("link", { name: "No route" }).click();
  await page.getByLabel("Tags, separated by commas").fill("");
  await page.locator(".handling").getByRole("button", { name: "Save" }).click();
  await page.getByText("removed all tags").waitFor();
  await page.goto(`${origin}/desk/reports`);
  await page.getByLabel("First day (UTC)").fill("2020-01-01");
  await page.getByLabel("Last day (UTC)").fill("2020-01-02");
  await page.getByRole("button", { name: "Show" }).click();
  await page.locator("summary", { hasText: "Figures by day" }).click();
  await page.getByRole("rowheader", { name: "2020-01-02" }).waitFor();
}

await runTest("the desk: tags, targets, saved views and reports, with and without scripts", async (harness) => {
  harness.env.GARTH_DESK_FIRST_RESPONSE_MINUTES = "normal=90";
  await harness.serve();
  harness.user("ada", "--account", "1");
  for (const name of ["grace", "linus"]) harness.user(name, "--staff");
  const token = harness.garth(["token", "create", "--user", "ada", "--label", "test"]).trim();
  await harness.api(token, "POST", "/support/tickets", { summary: "No route", description: "Since noon." });
  await harness.api(token, "POST", "/support/tickets", { summary: "Our bill", description: "It is wrong." });
  const [grace, linus] = [await harness.logIn("grace"), await harness.logIn("linus")];
  await tags(grace, harness);
  await targets(grace, harness);
  await views(grace, linus, harness);
  await reports(grace, harness);
  await withoutScript(await harness.logIn("grace", { javaScriptEnabled: false }), harness);
});
