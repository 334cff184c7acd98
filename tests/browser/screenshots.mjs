// Screenshots of the demo for the documentation. Not a test; `docs/screenshots/make` runs it.

import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { runTest } from "./harness.mjs";

const OPTIONS = { viewport: { width: 1200, height: 800 }, timezoneId: "Europe/Berlin" };

/** A WebP screenshot, which Playwright does not support itself. */
async function screenshot(page, name) {
  await page.evaluate(() => document.activeElement?.blur());
  await page.mouse.move(0, 0);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 82 });
  const path = join(process.env.SCREENSHOTS, `${name}.webp`);
  writeFileSync(path, Buffer.from(data, "base64"));
  console.log(`${String(statSync(path).size).padStart(7)} bytes  ${name}.webp`);
}

await runTest("screenshots of the console", async (harness) => {
  const output = await harness.serve("demo");
  const password = output.match(/^ {4}(\S+-\S+)$/m)[1];
  const logIn = (name, options = {}) => harness.logIn(name, { ...OPTIONS, ...options }, password);
  const [mara, sam, noor] = [await logIn("mara"), await logIn("sam"), await logIn("noor", { colorScheme: "dark" })];
  const shoot = async (page, path, name, height = 800) => {
    await page.setViewportSize({ ...page.viewportSize(), height });
    await page.goto(`${harness.origin}${path}`);
    await screenshot(page, name);
  };
  // Mark the events of the demo as seen, as in a used account.
  await mara.goto(`${harness.origin}/events`);
  await mara.getByRole("button", { name: "Mark all as seen" }).click();
  await shoot(mara, "/", "home");
  await shoot(mara, "/vpcs", "vpcs", 420);
  await shoot(mara, "/vpcs/1", "vpc");
  await shoot(mara, "/vpcs/1/subnets/2", "subnet");
  await shoot(mara, "/instances/1", "instance");
  await shoot(mara, "/tickets/3", "ticket");
  await shoot(mara, "/account/users/elif/grants", "grants");
  await shoot(sam, "/desk/home", "desk-home");
  await shoot(sam, "/desk?order=pressing", "desk", 640);
  await shoot(sam, "/desk/reports", "reports");
  await shoot(sam, "/provider", "accounts", 420);
  await noor.goto(`${harness.origin}/desk/tickets/3`);
  await sam.goto(`${harness.origin}/desk/tickets/3`);
  await noor.getByText("sam is also viewing this ticket.").waitFor();
  await noor.locator("summary", { hasText: "Reply to customer" }).scrollIntoViewIfNeeded();
  await noor.evaluate(() => scrollTo(0, 0));
  await screenshot(noor, "desk-ticket-dark");
  const phone = await logIn("mara", { viewport: { width: 390, height: 800 }, deviceScaleFactor: 1.5 });
  await shoot(phone, "/vpcs/1", "vpc-phone");
});
