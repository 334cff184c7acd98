// Tickets and the desk in a real browser: hostile text runs nothing, drafts and files survive, pages follow what
// happens without losing what is typed, and two of the staff see each other. The folder for pictures is optional.
//
//     node desk.mjs GARTH CHROMIUM [PICTURES]

import assert from "node:assert/strict";
import { spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync, writeFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

const [binary, executablePath, pictures] = process.argv.slice(2);
const PASSWORD = "correct horse battery staple";
const HOSTILE =
  "<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1)) ![p](https://evil.example/p.png) \"'><svg onload=alert(1)>";
const folder = mkdtempSync(join(tmpdir(), "garth-desk-"));
const env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GARTH_")));
env.GARTH_DATA = join(folder, "data");

function garth(words, input = "") {
  const ran = spawnSync(binary, words, { env, input, encoding: "utf8" });
  assert.equal(ran.status, 0, `garth ${words.join(" ")}: ${ran.stderr}`);
  return ran.stdout;
}

async function serve(listen) {
  const child = spawn(binary, ["serve", "--listen", listen, "--log", "warn"], { env, stdio: ["ignore", "pipe", "inherit"] });
  const said = await new Promise((ready) => child.stdout.once("data", (bytes) => ready(String(bytes))));
  return { child, listen: said.match(/http:\/\/([\d.]+:\d+)/)[1] };
}

async function stop(child) {
  child.kill();
  await new Promise((ended) => child.once("exit", ended));
}

let { child, listen } = await serve("127.0.0.1:0");
// A name for which a browser keeps cookies that are only for secure places.
const origin = `http://localhost:${listen.split(":")[1]}`;
const browser = await chromium.launch({ executablePath, args: ["--no-sandbox"] });
const alarms = [];

async function enter(name, options = {}) {
  const context = await browser.newContext({ viewport: { width: 1280, height: 900 }, timezoneId: "Asia/Tokyo", locale: "en-GB", ...options });
  const page = await context.newPage();
  page.on("dialog", (dialog) => { alarms.push(`a script ran for ${name}`); dialog.dismiss(); });
  page.on("pageerror", (error) => alarms.push(`${name}: ${error}`));
  page.on("console", (message) => /Content Security Policy|Refused to/.test(message.text()) && alarms.push(`${name}: ${message.text()}`));
  page.on("request", (request) => request.url().startsWith(origin) || alarms.push(`${name} asked ${request.url()}`));
  await page.goto(`${origin}/login`);
  await page.getByLabel("Username").fill(name);
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Log in" }).click();
  await page.waitForURL((url) => url.pathname !== "/login");
  return page;
}

/** What the page looks like: in both colours and on a phone, where nothing may stick out. */
async function look(page, name) {
  await page.setViewportSize({ width: 390, height: 800 });
  assert.ok((await page.evaluate(() => document.documentElement.scrollWidth)) <= 390, `${name} is wider than a phone`);
  if (pictures) await page.screenshot({ path: join(pictures, `${name}-phone.png`), fullPage: true });
  await page.setViewportSize({ width: 1280, height: 900 });
  for (const colorScheme of pictures ? ["light", "dark"] : []) {
    await page.emulateMedia({ colorScheme });
    await page.screenshot({ path: join(pictures, `${name}-${colorScheme}.png`), fullPage: true });
  }
}

async function tenant(page) {
  // A draft survives leaving, and goes once it was sent.
  await page.goto(`${origin}/tickets/new`);
  await page.getByLabel("Subject").fill("It is broken <script>alert(2)</script>");
  await page.getByLabel("What is going on?").fill(`**Loud**\n\n${HOSTILE}`);
  await page.goto(`${origin}/tickets`);
  await page.goto(`${origin}/tickets/new`);
  await page.getByText("This is a draft").waitFor();
  assert.match(await page.getByLabel("What is going on?").inputValue(), /Loud/);
  writeFileSync(join(folder, "log.txt"), "hop\n".repeat(5000));
  writeFileSync(join(folder, "bad.exe"), "MZ");
  await page.locator("[data-drop] input[type=file]").setInputFiles([join(folder, "log.txt"), join(folder, "bad.exe")]);
  await page.getByText("are taken").waitFor();
  await page.getByRole("button", { name: "Preview" }).click();
  await page.locator(".preview strong").waitFor();
  await look(page, "ticket-new");
  await page.getByRole("button", { name: "Open ticket" }).click();
  await page.waitForURL(/\/tickets\/1\?done=/);
  await page.getByRole("link", { name: "log.txt" }).waitFor();
  assert.match(await page.locator("time").first().getAttribute("title"), / UTC$/);
  await look(page, "ticket");
  await page.goto(`${origin}/tickets/new`);
  assert.equal(await page.getByLabel("What is going on?").inputValue(), "");
  // One more file, dropped onto the ticket's page, which shows it by itself.
  await page.goto(`${origin}/tickets/1`);
  const dropped = await page.evaluateHandle(() => {
    const transfer = new DataTransfer();
    transfer.items.add(new File(["hello"], "more.txt"));
    return transfer;
  });
  await page.dispatchEvent("[data-drop]", "drop", { dataTransfer: dropped });
  await page.getByRole("link", { name: "more.txt" }).waitFor();
}

async function desk(ada) {
  const [grace, linus] = [await enter("grace"), await enter("linus")];
  await look(grace, "desk");
  // The queue grows by itself.
  await ada.goto(`${origin}/tickets/new`);
  await ada.getByLabel("Subject").fill("Another one");
  await ada.getByLabel("What is going on?").fill("Please.");
  await ada.getByRole("button", { name: "Open ticket" }).click();
  await grace.getByText("Another one").waitFor();

  // With the keyboard alone: down to the older one, in, and claimed.
  await grace.keyboard.press("j");
  await grace.keyboard.press("j");
  await grace.keyboard.press("Enter");
  await grace.waitForURL(/\/desk\/tickets\/1/);
  await grace.keyboard.press("c");
  await grace.getByText("The ticket is yours.").waitFor();
  await linus.goto(`${origin}/desk/tickets/1`);
  await linus.getByText("grace has this ticket open, too.").waitFor();
  await grace.getByText("linus has this ticket open, too.").waitFor();
  await linus.keyboard.press("n");
  await linus.keyboard.type(`Rack 4. ${HOSTILE}`);
  await linus.keyboard.press("Control+Enter");
  await linus.getByText("Your note was saved").waitFor();
  await grace.getByText("Rack 4.").waitFor();

  // What is typed stays when the thread moves on, and goes out with what is seen.
  await grace.keyboard.press("r");
  await grace.keyboard.type("We found it.");
  await ada.goto(`${origin}/tickets/1`);
  await ada.getByLabel("Your reply").fill("And staging, too.");
  await ada.getByRole("button", { name: "Send reply" }).click();
  await grace.getByText("And staging, too.").waitFor();
  assert.equal(await grace.getByLabel("Reply", { exact: true }).inputValue(), "We found it.");
  await look(grace, "desk-ticket");
  await grace.getByRole("button", { name: "Send reply to customer" }).click();
  await grace.getByText("Your reply was sent").waitFor();
  await ada.locator("#thread").getByText("We found it.").waitFor();
  assert.equal(await ada.getByText("Rack 4.").count(), 0);
  assert.ok(Number.parseInt(await ada.locator(".unseen").innerText(), 10) > 0);
  await grace.locator("body").press("?");
  await grace.locator("dialog").getByText("reply to the customer").waitFor();
  await grace.keyboard.press("Escape");
  await linus.context().close();
  await grace.getByText("linus has this ticket open, too.").waitFor({ state: "detached" });
  return grace;
}

/** The server goes and comes back: pages say so, and then tell what happened meanwhile. */
async function lostAndFound(ada, grace) {
  await ada.goto(`${origin}/tickets/1`);
  await stop(child);
  await ada.getByText("No connection").waitFor();
  garth(["desk", "reply", "1", "While you were away.", "--as", "grace"]);
  ({ child } = await serve(listen));
  await ada.locator("#thread").getByText("While you were away.").waitFor();
  await grace.locator("#thread").getByText("While you were away.").waitFor();
  await ada.getByText("No connection").waitFor({ state: "hidden" });
}

async function withoutScript() {
  const page = await enter("ada", { javaScriptEnabled: false });
  await page.goto(`${origin}/tickets/1`);
  await page.getByLabel("Attach a file").setInputFiles(join(folder, "bad.exe"));
  await page.getByRole("button", { name: "Attach", exact: true }).click();
  await page.locator(".reason").waitFor();
  await page.getByLabel("Your reply").fill("Thank you.");
  await page.getByRole("button", { name: "Send reply" }).click();
  await page.getByText("Your reply was sent.").waitFor();
  await page.getByText("Close ticket").first().click();
  await page.getByRole("button", { name: "Close ticket 1" }).click();
  await page.getByText("The ticket is closed.").waitFor();
}

try {
  for (const [name, ...words] of [["ada", "--account", "1"], ["grace", "--staff"], ["linus", "--staff"]]) {
    garth(["user", "create", "--username", name, "--email", `${name}@example.com`, ...words]);
    garth(["user", "password", name, "--password-stdin"], PASSWORD);
  }
  const ada = await enter("ada");
  await tenant(ada);
  const grace = await desk(ada);
  await lostAndFound(ada, grace);
  await withoutScript();
  assert.deepEqual(alarms, []);
  console.log("ok     tickets, the desk, drafts, files and live pages in Chromium; no script but ours ran");
} finally {
  await browser.close();
  await stop(child);
  rmSync(folder, { recursive: true });
}
