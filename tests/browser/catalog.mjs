// Regions and plans of the provider: staff add, change and retire them, with the keyboard and without JavaScript, and
// customers see the changes.

import assert from "node:assert/strict";
import { runTest } from "./harness.mjs";

const press = (page, name) => page.getByRole("button", { name, exact: true }).last().click();
const shows = (page, text) => page.getByText(text).first().waitFor();

/** The IDs of the regions in the form for a VPC. */
async function offeredRegions(harness, page) {
  await page.goto(`${harness.origin}/vpcs/new`);
  return page.getByLabel("Region").locator("option").evaluateAll((options) => options.map((option) => option.value));
}

/** An operator adds a region with the keyboard only. */
async function addRegion(harness, mara) {
  const olaf = await harness.logIn("olaf");
  await olaf.goto(`${harness.origin}/provider`);
  await olaf.getByRole("link", { name: "Regions", exact: true }).click();
  await olaf.getByRole("link", { name: "Add region" }).focus();
  await olaf.keyboard.press("Enter");
  await olaf.getByRole("heading", { name: "Add region" }).waitFor();
  // The first field has the focus.
  await olaf.locator("main input:focus").waitFor();
  await olaf.keyboard.type("is-rkv");
  await olaf.keyboard.press("Tab");
  await olaf.keyboard.type("Reykjavik, IS");
  await olaf.keyboard.press("Tab");
  await olaf.keyboard.type("is");
  await olaf.keyboard.press("Enter");
  await shows(olaf, "Region saved.");
  await shows(olaf, "Reykjavik, IS");
  assert.ok((await offeredRegions(harness, mara)).includes("is-rkv"), "customers can choose the region");
}

/** An admin retires the region and reactivates it, without JavaScript. */
async function retireRegion(harness, mara) {
  const sam = await harness.logIn("sam", { javaScriptEnabled: false });
  await sam.goto(`${harness.origin}/provider/regions/is-rkv`);
  await sam.locator("summary", { hasText: "Retire" }).click();
  await press(sam, "Retire Reykjavik, IS");
  await shows(sam, "Region retired.");
  assert.ok(!(await offeredRegions(harness, mara)).includes("is-rkv"), "customers cannot choose a retired region");
  await sam.getByRole("link", { name: "Reykjavik, IS" }).click();
  await press(sam, "Reactivate");
  await shows(sam, "Region reactivated.");
  assert.ok((await offeredRegions(harness, mara)).includes("is-rkv"));
}

/** An operator adds a plan after an error, and changes it, without JavaScript. */
async function addPlan(harness, mara) {
  const olaf = await harness.logIn("olaf", { javaScriptEnabled: false });
  await olaf.goto(`${harness.origin}/provider/plans/new`);
  await olaf.getByLabel("ID", { exact: true }).fill("g1-small");
  await olaf.getByLabel("Label").fill("Small");
  await olaf.getByLabel("vCPUs").fill("one");
  await olaf.getByLabel("Memory").fill("2 GB");
  await olaf.getByLabel("Disk").fill("51200");
  await press(olaf, "Add plan");
  await shows(olaf, "Must be an integer");
  assert.equal(await olaf.getByLabel("Memory").inputValue(), "2 GB", "the form keeps the values");
  await olaf.getByLabel("vCPUs").fill("1");
  await olaf.getByLabel("Price per month").fill("10.5");
  await press(olaf, "Add plan");
  await shows(olaf, "Plan saved.");
  await olaf.getByRole("link", { name: "Small", exact: true }).click();
  await olaf.getByLabel("Label").fill("Smaller");
  await press(olaf, "Save");
  await shows(olaf, "Plan saved.");
  await mara.goto(`${harness.origin}/instances/new`);
  const plans = await mara.getByLabel("Plan").locator("option").allTextContents();
  assert.ok(plans.includes("Smaller: 1 vCPU, 2 GB memory, 50 GB disk, $10.50 a month"), plans.join());
}

await runTest("regions and plans of the provider", async (harness) => {
  await harness.serve();
  harness.user("sam", "--staff");
  harness.user("olaf", "--staff", "--role", "operator");
  harness.user("noor", "--staff", "--role", "support");
  harness.user("mara", "--account", "1");
  const mara = await harness.logIn("mara");
  await addRegion(harness, mara);
  await retireRegion(harness, mara);
  await addPlan(harness, mara);
  const noor = await harness.logIn("noor");
  await noor.goto(`${harness.origin}/provider`);
  assert.equal(await noor.getByRole("link", { name: "Regions", exact: true }).count(), 0);
  const refused = await noor.goto(`${harness.origin}/provider/regions`);
  assert.equal(refused.status(), 403, "support does not change regions");
});
