// The provider's brand: the form, the preview without JavaScript, the images, and the pages that customers see.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import { fits, runTest } from "./harness.mjs";

const SIZES = [{ width: 390, height: 844 }, { width: 1440, height: 900 }];
const LOGO = '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 32 32"><circle cx="16" cy="16" r="15" fill="#0b6e4f"/><path d="M8 18h16M16 8v16" stroke="#fff" stroke-width="3"/></svg>';
const HOSTILE_LOGO = LOGO.replace("<circle", '<script>alert(1)</script><image href="https://evil.example/x.png"/><circle onload="alert(1)"');

const press = (page, name) => page.getByRole("button", { name, exact: true }).last().click();
const shows = (page, text) => page.getByText(text).first().waitFor();
const color = (locator, property) => locator.evaluate((element, property) => getComputedStyle(element)[property], property);

/** Checks a page with axe-core in light and dark mode, and its layout in both sizes. */
async function check(harness, page, name) {
  for (const colorScheme of ["light", "dark"]) {
    await page.emulateMedia({ colorScheme });
    for (const size of SIZES) {
      await page.setViewportSize(size);
      await fits(page, name);
      await harness.screenshot(page, `branding-${name}-${colorScheme}-${size.width}`);
    }
    await page.evaluate(`{ ${axe.source} } 0`);
    const { violations } = await page.evaluate(() => globalThis.axe.run(document, { resultTypes: ["violations"] }));
    const found = violations.filter(({ impact }) => ["serious", "critical"].includes(impact));
    assert.deepEqual(found.map(({ id, nodes }) => `${id}: ${nodes[0].html} ${nodes[0].failureSummary}`), [], `${name}, ${colorScheme}`);
  }
  await page.emulateMedia({ colorScheme: "light" });
}

async function fill(page) {
  await page.getByLabel("Name").fill("Harbor Cloud");
  await page.getByLabel("Accent color").fill("#0b6e4f");
  await page.getByLabel("Footer").fill("Harbor Lane Ltd\n12 Quay Street");
  await page.getByLabel("Label of link 1").fill("Status");
  await page.getByLabel("URL of link 1").fill("https://status.harbor.example");
}

/** The preview works without JavaScript, and saves nothing. */
async function preview(harness) {
  const page = await harness.logIn("sam", { javaScriptEnabled: false });
  await page.goto(`${harness.origin}/provider/branding`);
  await page.getByLabel("Accent color").fill("#ffcc00");
  await press(page, "Preview");
  await shows(page, "must be at least 4.5:1");
  await fill(page);
  await press(page, "Preview");
  await shows(page, "These values are not saved yet.");
  const buttons = page.locator(".brand-preview .button.main");
  assert.equal(await color(buttons.first(), "backgroundColor"), "rgb(11, 110, 79)", "the light theme has the color");
  assert.notEqual(await color(buttons.last(), "backgroundColor"), "rgb(11, 110, 79)", "the dark theme has a lighter shade");
  assert.equal(await color(page.locator(".brand-preview.dark"), "backgroundColor"), "rgb(16, 19, 24)");
  assert.equal(await page.locator(".brand-preview .brand-links a").count(), 2);
  assert.equal(await page.title(), "Branding – Garth", "nothing is saved");
  await page.goto(`${harness.origin}/provider/branding`);
  assert.equal(await page.getByLabel("Name").inputValue(), "");
}

await runTest("the brand of the provider", async (harness) => {
  await harness.serve();
  harness.user("sam", "--staff");
  harness.user("mara", "--account", "1");
  await preview(harness);
  const sam = await harness.logIn("sam");
  await sam.goto(`${harness.origin}/provider/branding`);
  await check(harness, sam, "default");
  await fill(sam);
  const logo = join(harness.folder, "logo.svg");
  const favicon = join(harness.folder, "favicon.svg");
  writeFileSync(logo, HOSTILE_LOGO);
  writeFileSync(favicon, LOGO);
  await sam.locator("#f-logo").setInputFiles(logo);
  await press(sam, "Preview");
  await shows(sam, "These values are not saved yet.");
  const isLoaded = (image) => image.complete && image.naturalWidth > 0;
  for (const theme of ["light", "dark"]) {
    assert.ok(await sam.locator(`.brand-preview.${theme} .brand-logo`).evaluate(isLoaded), "the preview has the chosen logo");
  }
  await check(harness, sam, "preview");
  // One button saves the texts, the image of the preview and a new one.
  await sam.locator("#f-favicon").setInputFiles(favicon);
  await press(sam, "Save");
  await shows(sam, "Branding saved.");
  assert.equal(await sam.getByLabel("Name").inputValue(), "Harbor Cloud");
  assert.ok(await sam.locator("header .brand-logo").evaluate(isLoaded), "the logo is shown");
  await check(harness, sam, "saved");
  writeFileSync(logo, "not an image");
  await sam.getByLabel("Name").fill("Harbor");
  await sam.locator("#f-logo").setInputFiles(logo);
  await press(sam, "Save");
  await shows(sam, "neither a PNG image nor a well-formed SVG image");
  assert.equal(await sam.getByLabel("Name").inputValue(), "Harbor", "the form keeps the texts");
  await check(harness, sam, "refused");
  // An image is removed with a button of another form.
  await sam.goto(`${harness.origin}/provider/branding`);
  await press(sam, "Remove favicon");
  await shows(sam, "Branding saved.");
  assert.equal(await sam.getByRole("button", { name: "Remove favicon" }).count(), 0);

  const mara = await harness.newPage("mara");
  await mara.goto(`${harness.origin}/login`);
  assert.equal(await mara.title(), "Log in – Harbor Cloud");
  await mara.getByRole("link", { name: "Status" }).waitFor();
  assert.equal(await color(mara.getByRole("button", { name: "Log in" }), "backgroundColor"), "rgb(11, 110, 79)");
  await check(harness, mara, "log-in");
  const customer = await harness.logIn("mara");
  await customer.goto(`${harness.origin}/vpcs`);
  await shows(customer, "12 Quay Street");
  assert.equal(await color(customer.locator(".button.main").first(), "backgroundColor"), "rgb(11, 110, 79)");
  await check(harness, customer, "customer");
  // The image as a page runs no scripts.
  await customer.goto(new URL(await customer.locator("header .brand-logo").getAttribute("src"), harness.origin).href);

  await sam.goto(`${harness.origin}/provider/branding`);
  await sam.locator("summary", { hasText: "Reset to defaults" }).click();
  await press(sam, "Reset to defaults");
  await shows(sam, "Branding reset to defaults.");
  assert.equal(await sam.title(), "Branding – Garth");
  return "form, preview, images, log-in page and reset";
});
