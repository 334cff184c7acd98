// Instances of a tenant: create on a subnet, power, configs, attach and detach, and a deletion that is blocked by an
// instance.

import assert from "node:assert/strict";
import { fits, runTest } from "./harness.mjs";

const WIDTHS = [390, 1440];
const press = (page, name) => page.getByRole("button", { name, exact: true }).last().click();

/** The page must fit a phone and a wide screen. */
async function fitsAll(page, name) {
  const before = page.viewportSize();
  for (const width of WIDTHS) {
    await page.setViewportSize({ width, height: 900 });
    await fits(page, name);
  }
  await page.setViewportSize(before);
}

async function create(page, origin, image) {
  await page.goto(`${origin}/instances`);
  await page.getByRole("heading", { name: "No instances yet" }).waitFor();
  await page.getByRole("main").getByRole("link", { name: "Create instance" }).first().click();
  await page.getByLabel("Region").selectOption("us-east");
  await page.getByLabel("Plan").selectOption({ index: 1 });
  await page.getByLabel("Image").selectOption(image);
  await page.getByLabel("Label").fill("web-1");
  // The subnets of the VPC are loaded when the VPC is chosen, and the other input is preserved.
  await page.getByLabel("VPC", { exact: false }).first().selectOption({ label: "core (us-east)" });
  await page.getByLabel("Subnet").locator("option", { hasText: "front" }).waitFor({ state: "attached" });
  await page.getByLabel("Subnet").selectOption({ label: "front (10.0.0.0/24)" });
  assert.equal(await page.getByLabel("Label").inputValue(), "web-1");
  await press(page, "Create instance");
  await page.getByRole("alert").getByText("Enter a root password or an SSH key").waitFor();
  assert.equal(await page.getByLabel("Subnet").inputValue(), "1", "the subnet is still selected");
  await fitsAll(page, "a new instance with an error");
  await page.getByLabel("Root password").fill("Correct-horse-9");
  await press(page, "Create instance");
  await page.getByText("Instance created.").waitFor();
  await page.getByRole("heading", { name: /web-1/ }).getByText("running").waitFor();
  await page.locator("tr", { hasText: "front" }).getByText("10.0.0.2").waitFor();
  await fitsAll(page, "an instance");
}

async function power(page) {
  await page.locator("summary", { hasText: "Shut down" }).click();
  await press(page, "Shut down web-1");
  await page.getByText("Shutdown started.").waitFor();
  await page.getByRole("heading", { name: /web-1/ }).getByText("offline").waitFor();
  await press(page, "Boot");
  await page.getByRole("heading", { name: /web-1/ }).getByText("running").waitFor();
  await page.locator("summary", { hasText: "Reboot" }).click();
  await press(page, "Reboot web-1");
  await page.getByText("Reboot started.").waitFor();
  await page.getByRole("heading", { name: /web-1/ }).getByText("running").waitFor();
}

async function attach(page, origin) {
  await page.goto(`${origin}/vpcs/1/subnets/2`);
  await page.getByRole("link", { name: "Attach an instance" }).click();
  await fitsAll(page, "the choice of an instance");
  await page.getByRole("link", { name: "Detach or attach web-1" }).click();
  assert.equal(await page.getByLabel("Subnet").inputValue(), "2");
  await page.locator("p", { hasText: "The config spare gets the interface." }).waitFor();
  await page.getByLabel("Private address").fill("10.0.1.300");
  await press(page, "Attach");
  await page.getByRole("alert").getByText("Must be an IPv4 address").waitFor();
  await page.getByLabel("Private address").fill("10.0.1.30");
  await press(page, "Attach");
  await page.getByText("Instance attached to the subnet.").waitFor();
  await page.locator("tr", { hasText: "10.0.1.30" }).getByText("inactive").waitFor();
}

async function configs(page) {
  await page.getByRole("link", { name: "Add config" }).click();
  await page.getByLabel("Label").fill("rescue");
  await press(page, "Add config");
  await page.getByText("Config added.").waitFor();
  await page.getByRole("link", { name: "Edit rescue" }).click();
  await page.getByLabel("Label").fill("spare");
  await press(page, "Save");
  await page.getByText("Config updated.").waitFor();
}

/** From the blocked deletion of a VPC to its end, without a dead end. */
async function unblock(page, origin) {
  await page.goto(`${origin}/vpcs/1/delete`);
  await page.getByText("Remove 2 interfaces first").waitFor();
  await fitsAll(page, "a blocked deletion");
  await page.getByRole("link", { name: "Shut down and detach web-1" }).click();
  await press(page, "Shut down");
  await page.getByText("Shutdown started.").waitFor();
  await press(page, "Detach");
  await page.waitForURL(/\/vpcs\/1\/delete/);
  await page.getByText("Remove 1 interface first").waitFor();
  await page.getByRole("link", { name: "Detach web-1" }).click();
  await fitsAll(page, "detaching");
  await press(page, "Detach");
  await page.getByLabel("Type “core” to confirm").fill("core");
  await press(page, "Delete VPC");
  await page.getByText("VPC deleted.").waitFor();
}

async function remove(page, origin) {
  await page.goto(`${origin}/instances/1`);
  await page.getByRole("link", { name: "Delete spare" }).click();
  await press(page, "Delete config");
  await page.getByText("Config deleted.").waitFor();
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.getByLabel("Label").fill("web-2");
  await page.getByLabel("Tags").fill("front, eu-1");
  await press(page, "Save");
  await page.getByText("Instance updated.").waitFor();
  await page.getByRole("link", { name: "Delete", exact: true }).click();
  await page.getByLabel("Type “web-2” to confirm").fill("web-2");
  await press(page, "Delete instance");
  await page.getByText("Instance deleted.").waitFor();
}

async function journey(harness, token, page) {
  const subnets = [{ label: "front", ipv4: "10.0.0.0/24" }, { label: "back", ipv4: "10.0.1.0/24" }];
  await harness.api(token, "POST", "/vpcs", { label: "core", region: "us-east", subnets });
  const image = (await harness.api(token, "GET", "/images")).data.find((image) => !image.deprecated).id;
  await create(page, harness.origin, image);
  await power(page);
  await configs(page);
  await attach(page, harness.origin);
  await unblock(page, harness.origin);
  await remove(page, harness.origin);
}

/** The page of an instance and the list show changes by other users. */
async function follow(harness, token, page) {
  await page.goto(`${harness.origin}/instances`);
  const { id } = await harness.api(token, "POST", "/linode/instances", { label: "live-1", region: "us-east", type: "g6-nanode-1" });
  await page.getByRole("link", { name: "live-1" }).click();
  await harness.api(token, "PUT", `/linode/instances/${id}`, { label: "live-2" });
  await page.getByRole("heading", { name: "live-2" }).waitFor();
  await harness.api(token, "DELETE", `/linode/instances/${id}`);
  await page.getByRole("heading", { name: "Instance not available" }).waitFor();
}

async function start(harness) {
  await harness.serve();
  harness.user("ada", "--account", "1");
  return harness.garth(["token", "create", "--user", "ada", "--label", "test"]).trim();
}

await runTest("instances: create, power, attach, unblock a deletion, delete", async (harness) => {
  const token = await start(harness);
  const page = await harness.logIn("ada", { colorScheme: "dark" });
  await journey(harness, token, page);
  await follow(harness, token, page);
});

await runTest("instances on a phone", async (harness) => {
  const token = await start(harness);
  await journey(harness, token, await harness.logIn("ada", { viewport: { width: 390, height: 800 } }));
});
