// VPCs and subnets of a tenant: empty pages, validation of a range while typing, search, the address map, editing,
// blockers of a deletion, deletion, and IPv6.

import assert from "node:assert/strict";
import { runTest } from "./harness.mjs";

async function create(page, origin) {
  await page.waitForURL(/\/home$/);
  await page.getByRole("link", { name: "VPCs 0" }).click();
  await page.waitForURL(/\/vpcs$/);
  await page.getByRole("heading", { name: "No VPCs yet" }).waitFor();
  await page.getByRole("main").getByRole("link", { name: "Create VPC" }).first().click();
  await page.getByLabel("Region").selectOption("us-east");
  await page.getByLabel("Label").first().fill("core");
  await page.getByLabel("Description").fill("For everything.");

  // A range is validated while typing, and the next free range is suggested.
  const range = page.getByLabel("IPv4 range").first();
  assert.match(await range.inputValue(), /^10\..*\/24$/);
  await range.fill("10.0.0.1/24");
  await page.locator(".check .bad").waitFor();
  await range.fill("10.0.0.0/24");
  await page.getByText("252 usable addresses").waitFor();
  await page.getByRole("button", { name: "Add another subnet" }).click();
  const second = page.getByLabel("IPv4 range").nth(1);
  const proposed = await second.inputValue();
  await second.fill("10.0.0.0/24");
  await page.locator(".check .bad").getByText(/overlaps/).waitFor();
  await page.getByRole("button", { name: proposed }).click();
  assert.equal(await second.inputValue(), proposed);
  await page.locator(".check .bad").waitFor({ state: "detached" });
  // A change of the first range checks the second one again.
  await range.fill("10.0.0.0/16");
  await page.locator(".check .bad").getByText(/overlaps/).waitFor();
  await range.fill("10.0.0.0/24");
  await page.locator(".check .bad").waitFor({ state: "detached" });

  // Errors are at their field, and the input is preserved.
  await page.getByLabel("Label").first().fill("not_good");
  await page.getByRole("button", { name: "Create VPC" }).last().click();
  await page.getByRole("alert").getByText("There is 1 problem.").waitFor();
  assert.equal(await second.inputValue(), proposed);
  await page.getByLabel("Label").first().fill("core");
  await page.getByLabel("Label").nth(1).fill("web");
  await page.getByRole("button", { name: "Create VPC" }).last().click();
  await page.getByText("VPC created.").waitFor();
  assert.equal(new URL(page.url()).pathname, "/vpcs/1");
  assert.equal(await page.locator(".map svg:visible a").count() >= 2, true, "each subnet is on the map");
}

async function search(page, origin) {
  await page.goto(`${origin}/vpcs`);
  await page.getByLabel("Search").fill("no such thing");
  await page.getByText("No VPCs match your search.").waitFor();
  await page.getByLabel("Search").fill("web");
  await page.getByRole("link", { name: "core" }).waitFor();
  assert.match(page.url(), /q=web/);
  assert.equal(await page.getByRole("link", { name: "Export CSV" }).getAttribute("href"), "/vpcs/export.csv?q=web", "the export follows the search");
  // The buttons for selected rows are enabled while a row is selected.
  const remove = page.locator("#bulk").getByRole("button", { name: "Delete" });
  assert.ok(await remove.isDisabled(), "nothing is selected");
  await page.getByLabel("Select core").check();
  assert.ok(await remove.isEnabled(), "a row is selected");
  await page.getByLabel("Select core").uncheck();
  assert.ok(await remove.isDisabled(), "nothing is selected");
  const viewport = page.viewportSize();
  await page.setViewportSize({ width: 390, height: 800 });
  const last = await page.getByRole("navigation", { name: "Main" }).getByRole("link", { name: "Account" }).boundingBox();
  assert.ok(last.x >= 0 && last.x + last.width <= 390, "the whole menu is visible on a phone");
  await page.setViewportSize(viewport);
  await page.getByLabel("Region").selectOption({ index: 1 });
  await page.waitForURL(/region=/);
}

/** The search box of all pages: results while typing, the keyboard, and the page of all results. */
async function find(page, origin) {
  await page.goto(`${origin}/account`);
  await page.keyboard.press("/");
  await page.locator("#find:focus").waitFor();
  await page.keyboard.type("web");
  await page.locator("#find-results").getByRole("link", { name: /^web / }).waitFor();
  await page.keyboard.press("ArrowDown");
  await page.locator("#find-results a:focus").waitFor();
  await page.keyboard.press("Escape");
  await page.locator("#find:focus").waitFor();
  await page.locator("#find-results a").first().waitFor({ state: "detached" });
  await page.locator("#find").fill("10.0.0.7");
  await page.locator("#find-results").getByRole("link", { name: /10\.0\.0\.7 free/ }).click();
  await page.waitForURL(/\/vpcs\/1\/subnets\/1$/);
  await page.locator("#find").fill("core");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/search\?q=core/);
  await page.getByRole("heading", { name: /Results for/ }).waitFor();
  await page.getByRole("main").getByRole("link", { name: /^core / }).click();
  await page.waitForURL(/\/vpcs\/1$/);
}

async function map(page, harness, token) {
  const type = (await harness.api(token, "GET", "/linode/types")).data[0].id;
  const instance = (label, subnet_id) =>
    harness.api(token, "POST", "/linode/instances", { label, region: "us-east", type, interfaces: [{ purpose: "vpc", subnet_id }] });
  await instance("web-1", 1);
  await page.goto(`${harness.origin}/vpcs/1`);
  await page.locator("tr", { hasText: "web-1" }).getByText("10.0.0.2").waitFor();
  // A free block of the map opens the form with a range in it.
  await page.locator(".map svg:visible a.gap").first().click();
  await page.waitForURL(/subnets\/new\?free=10\./);
  assert.match(await page.getByLabel("IPv4 range").inputValue(), /^10\.0\.\d+\.0\/24$/);
  await page.locator(".check .good").waitFor();
  await page.goBack();
  // From the map of the VPC to the map of a subnet and its addresses.
  await page.locator(".map svg:visible a").first().click();
  await page.waitForURL(/\/vpcs\/1\/subnets\/1/);
  await page.getByRole("heading", { name: /web/ }).waitFor();
  await page.locator("tr", { hasText: "web-1" }).getByText("10.0.0.2").waitFor();
  assert.ok((await page.locator(".map .taken").count()) > 0, "the address in use is highlighted");
}

async function edit(page, origin) {
  await page.goto(`${origin}/vpcs/1`);
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.getByLabel("Label").fill("backbone");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("VPC updated.").waitFor();
  // Two users edit concurrently: the second user gets a conflict, keeps the input, and can save again.
  const other = await page.context().newPage();
  await other.goto(`${origin}/vpcs/1/edit`);
  await page.goto(`${origin}/vpcs/1/edit`);
  await page.getByLabel("Description").fill("First.");
  await page.getByRole("button", { name: "Save" }).click();
  await other.getByLabel("Description").fill("Second.");
  await other.getByRole("button", { name: "Save" }).click();
  await other.getByRole("alert").getByText("This was changed after you opened the page.").waitFor();
  assert.equal(await other.getByLabel("Description").inputValue(), "Second.");
  await other.getByRole("button", { name: "Save" }).click();
  await other.getByText("VPC updated.").waitFor();
  await other.close();
}

async function subnets(page, origin) {
  await page.goto(`${origin}/vpcs/1`);
  await page.getByRole("link", { name: "Add subnet" }).click();
  await page.getByLabel("Label").fill("data");
  await page.getByLabel("IPv4 range").fill("10.0.0.0/25");
  await page.locator(".check .bad").getByText(/overlaps/).waitFor();
  await page.locator(".check").getByRole("button").click();
  await page.locator(".check .good").waitFor();
  await page.getByRole("button", { name: "Add subnet" }).click();
  await page.getByText("Subnet added.").waitFor();
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Label").fill("archive");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Subnet updated.").waitFor();
  await page.getByRole("link", { name: "Delete" }).click();
  await page.getByLabel("Type “archive” to confirm").fill("archive");
  await page.getByRole("button", { name: "Delete subnet" }).click();
  await page.getByText("Subnet deleted.").waitFor();
}

async function remove(page, harness, token) {
  // The blocking interface is listed, with a link.
  await page.goto(`${harness.origin}/vpcs/1`);
  await page.getByRole("link", { name: "Delete", exact: true }).click();
  await page.getByText("Remove 1 interface first").waitFor();
  assert.equal(await page.getByRole("button", { name: "Delete VPC" }).count(), 0);
  await page.getByRole("alert").getByRole("link", { name: /is in use by/ }).click();
  await page.waitForURL(/\/vpcs\/1\/subnets\/1#interface-1$/);
  await page.locator("tr:target", { hasText: "web-1" }).waitFor();
  const [instance] = (await harness.api(token, "GET", "/linode/instances")).data;
  await harness.api(token, "DELETE", `/linode/instances/${instance.id}`);

  await page.goto(`${harness.origin}/vpcs/1/delete`);
  await page.getByLabel("Type “backbone” to confirm").fill("core");
  await page.getByRole("button", { name: "Delete VPC" }).click();
  await page.getByRole("alert").getByText("Does not match “backbone”").waitFor();
  await page.getByLabel("Type “backbone” to confirm").fill("backbone");
  await page.getByRole("button", { name: "Delete VPC" }).click();
  await page.getByText("VPC deleted.").waitFor();
  await page.getByRole("heading", { name: "No VPCs yet" }).waitFor();
}

/** The page of a VPC shows changes by other users, and the deletion of the VPC. */
async function follow(page, harness, token) {
  const { id } = await harness.api(token, "POST", "/vpcs", { label: "watched", region: "us-east", subnets: [{ label: "first", ipv4: "10.0.0.0/24" }] });
  await page.goto(`${harness.origin}/vpcs/${id}`);
  await page.getByRole("heading", { name: "watched" }).waitFor();
  await page.locator("summary", { hasText: "Show as table" }).click();
  await harness.api(token, "POST", `/vpcs/${id}/subnets`, { label: "second", ipv4: "10.0.1.0/24" });
  await page.locator("#subnets ~ table").getByRole("link", { name: "second", exact: true }).waitFor();
  assert.equal(await page.locator(".map details").getAttribute("open"), "", "the table stays open");
  await page.getByRole("link", { name: "Edit", exact: true }).focus();
  await harness.api(token, "PUT", `/vpcs/${id}`, { label: "renamed" });
  await page.getByRole("heading", { name: "renamed" }).waitFor();
  await page.locator("a:focus", { hasText: "Edit" }).waitFor();
  await harness.api(token, "DELETE", `/vpcs/${id}`);
  await page.getByRole("heading", { name: "VPC not available" }).waitFor();
}

/** A VPC with an IPv6 range: forms, networks of an interface, the map of a subnet, and search. */
async function dualStack(page, harness, token) {
  await page.goto(`${harness.origin}/vpcs/new`);
  await page.getByLabel("Region").selectOption("us-east");
  await page.getByLabel("Label").first().fill("dual");
  await page.getByLabel("IPv6 range").nth(1).selectOption("/62");
  await page.getByRole("button", { name: "Create VPC" }).last().click();
  await page.getByRole("alert").getByText("The VPC has no IPv6 range").waitFor();
  assert.equal(await page.getByLabel("IPv6 range").nth(1).inputValue(), "/62");
  await page.getByLabel("IPv6 range").first().selectOption("/52");
  await page.getByRole("button", { name: "Create VPC" }).last().click();
  await page.getByText("VPC created.").waitFor();
  const [{ ipv6, subnets: [{ id }] }] = (await harness.api(token, "GET", "/vpcs")).data;
  await page.getByText(ipv6[0].range, { exact: true }).waitFor();
  const interfaces = [{ purpose: "vpc", subnet_id: id, ipv6: { ranges: [{ range: "auto" }] } }];
  await harness.api(token, "POST", "/linode/instances", { label: "web-6", region: "us-east", type: "g6-nanode-1", interfaces });
  await page.locator("tr", { hasText: "web-6" }).getByText("SLAAC").waitFor();
  await page.locator(".map svg:visible a").first().click();
  await page.getByRole("heading", { name: "IPv6 networks", exact: true }).waitFor();
  await page.locator("svg[aria-label='Map of IPv6 networks']:visible a").first().click();
  const network = page.locator("tr:target", { hasText: "web-6" });
  const address = await network.locator("div.quiet code").innerText();
  await page.goto(`${harness.origin}/vpcs`);
  await page.getByLabel("Search").fill(address);
  await page.waitForURL(/q=/);
  await page.getByRole("link", { name: "dual" }).waitFor();
  await page.getByLabel("Search").fill("fd99::/16");
  await page.getByText("No VPCs match your search.").waitFor();
}

await runTest("VPCs: create, search, address map, edit, delete", async (harness) => {
  await harness.serve();
  harness.user("ada", "--account", "1");
  const token = harness.garth(["token", "create", "--user", "ada", "--label", "test"]).trim();
  const page = await harness.logIn("ada");
  await create(page, harness.origin);
  await search(page, harness.origin);
  await find(page, harness.origin);
  await map(page, harness, token);
  await edit(page, harness.origin);
  await subnets(page, harness.origin);
  await remove(page, harness, token);
  await follow(page, harness, token);
  await dualStack(page, harness, token);
  await page.getByRole("link", { name: "Log out" }).click();
  await page.getByRole("heading", { name: "Logged out" }).waitFor();
});
