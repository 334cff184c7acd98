// Screenshots of the demo for the documentation. Not a test; `docs/screenshots/make` runs it.

import { statSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { play } from "./harness.mjs";

const OPTIONS = { viewport: { width: 1200, height: 800 }, timezoneId: "Europe/Berlin" };

/** A WebP screenshot, which Playwright does not support itself. */
async function picture(page, name) {
  await page.evaluate(() => document.activeElement?.blur());
  await page.mouse.move(0, 0);
  const session = await page.context().newCDPSession(page);
  const { data } = await session.send("Page.captureScreenshot", { format: "webp", quality: 82 });
  const path = join(process.env.SCREENSHOTS, `${name}.webp`);
  writeFileSync(path, Buffer.from(data, "base64"));
  console.log(`${String(statSync(path).size).padStart(7)} bytes  ${name}.webp`);
}

await play("screenshots of the console", async (stage) => {
  const said = await stage.serve("demo");
  const password = said.match(/^ {4}(\S+-\S+)$/m)[1];
  const enter = (name, options = {}) => stage.enter(name, { ...OPTIONS, ...options }, password);
  const [mara, sam, noor] = [await enter("mara"), await enter("sam"), await enter("noor", { colorScheme: "dark" })];
  const shoot = async (page, path, name, height = 800) => {
    await page.setViewportSize({ ...page.viewportSize(), height });
    await page.goto(`${stage.origin}${path}`);
    await picture(page, name);
  };
  // Mark the events of the demo as seen, as in a used account.
  await mara.goto(`${stage.origin}/events`);
  await mara.getByRole("button", { name: "Mark all as seen" }).click();
  await shoot(mara, "/vpcs", "vpcs", 420);
  await shoot(mara, "/vpcs/1", "vpc");
  await shoot(mara, "/vpcs/1/subnets/2", "subnet");
  await shoot(mara, "/tickets/3", "ticket");
  await shoot(mara, "/account/users/elif/grants", "grants");
  await shoot(sam, "/desk?order=pressing", "desk", 560);
  await noor.goto(`${stage.origin}/desk/tickets/3`);
  await sam.goto(`${stage.origin}/desk/tickets/3`);
  await noor.getByText("sam is also viewing this ticket.").waitFor();
  await noor.locator("summary", { hasText: "Reply to customer" }).scrollIntoViewIfNeeded();
  await noor.evaluate(() => scrollTo(0, 0));
  await picture(noor, "desk-ticket-dark");
  const phone = await enter("mara", { viewport: { width: 390, height: 800 }, deviceScaleFactor: 1.5 });
  await shoot(phone, "/vpcs/1", "vpc-phone");
});
