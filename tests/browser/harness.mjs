// Common parts of the browser tests: a server per test, logged-in browsers, and alarms. An alarm is an event that must
// never occur on any page: an error on the browser's console, a request to another host, a violation of the content
// security policy, a dialog, or a failed response.
//
// Environment: GARTH_BINARY, CHROMIUM, FREE_PORT (a program that prints a free port), and optionally PICTURES, a folder
// for screenshots.

import assert from "node:assert/strict";
import { execFileSync, spawn, spawnSync } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { chromium } from "playwright-core";

export const PASSWORD = "correct horse battery staple";
export const HOSTILE =
  "<script>alert(1)</script> <img src=x onerror=alert(1)> [x](javascript:alert(1)) ![p](https://evil.example/p.png) \"'><svg onload=alert(1)>";
/** The width of a small phone, the smallest that accessibility guidelines require. */
export const PHONE = { width: 320, height: 700 };
export const TABLET = { width: 768, height: 1024 };
export const DESKTOP = { width: 1280, height: 900 };
/** The statuses of expected error pages. */
const EXPECTED_ERRORS = [400, 401, 403, 404, 409, 412, 413, 429];

export class Harness {
  #alarms = [];
  #expectedErrors = new Set();
  #offline = false;
  #child;
  // A port that stays free while the server is down.
  #listen = `127.0.0.1:${execFileSync(process.env.FREE_PORT, { encoding: "utf8" }).trim()}`;

  constructor(hosts) {
    const { GARTH_BINARY: binary, PICTURES: screenshots } = process.env;
    this.binary = binary;
    this.screenshots = screenshots;
    this.hosts = hosts;
    this.folder = mkdtempSync(join(tmpdir(), "garth-browser-"));
    this.env = Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith("GARTH_")));
    this.env.GARTH_DATA = join(this.folder, "data");
  }

  /** Runs a command next to the server. */
  garth(command, input = "") {
    const result = spawnSync(this.binary, command, { env: this.env, input, encoding: "utf8" });
    assert.equal(result.status, 0, `garth ${command.join(" ")}: ${result.stderr}`);
    return result.stdout;
  }

  user(name, ...options) {
    this.garth(["user", "create", "--username", name, "--email", `${name}@example.com`, ...options]);
    this.garth(["user", "password", name, "--password-stdin"], PASSWORD);
  }

  /** Starts the server, or the demo; a restart uses the same address. Returns its output. */
  async serve(command = "serve") {
    this.#child = spawn(this.binary, [command, "--listen", this.#listen, "--log", "warn"], {
      env: this.env,
      stdio: ["ignore", "pipe", "inherit"],
    });
    const complete = command === "serve" ? /http:\/\/[\d.]+:\d+/ : /\/v4\/vpcs\n/;
    const output = await new Promise((ready) => {
      let output = "";
      this.#child.stdout.on("data", (bytes) => complete.test((output += bytes)) && ready(output));
    });
    // Browsers accept secure cookies from localhost.
    this.origin = `http://localhost:${this.#listen.split(":")[1]}`;
    return output;
  }

  async stop() {
    if (this.#child.exitCode !== null) return;
    this.#child.kill();
    await new Promise((exited) => this.#child.once("exit", exited));
  }

  /** Ignores alarms while the server is down. */
  async whileOffline(action) {
    this.#offline = true;
    await action();
    this.#offline = false;
  }

  /** Ignores alarms while a request fails on purpose. */
  whileFailing(action) {
    return this.whileOffline(action);
  }

  /** A new browser context, whose pages raise alarms. */
  async newPage(name, options = {}) {
    const context = await this.browser.newContext({ viewport: DESKTOP, timezoneId: "Asia/Tokyo", locale: "en-GB", ...options });
    context.setDefaultTimeout(15_000);
    const alarm = (text, url = "") => this.#offline || this.#alarms.push({ text: `${name}: ${text}`, url });
    const isAllowed = (url) => [this.origin, ...this.hosts].some((host) => url === host || url.startsWith(`${host}/`));
    context.on("console", (message) => message.type() === "error" && alarm(`console: ${message.text()}`, message.location().url));
    context.on("weberror", (error) => alarm(`error: ${error.error()}`));
    context.on("dialog", (dialog) => { alarm(`a dialog of a script: ${dialog.message()}`); dialog.dismiss(); });
    context.on("request", (request) => isAllowed(request.url()) || alarm(`a request to another host: ${request.url()}`));
    context.on("response", (response) => {
      const status = response.status();
      if (status < 400) return;
      const request = response.request();
      // Requests of pages on an allowed host may fail.
      const isFromAllowedHost = () => this.hosts.some((host) => request.frame().url().startsWith(host));
      if (EXPECTED_ERRORS.includes(status) && (request.isNavigationRequest() || isFromAllowedHost())) this.#expectedErrors.add(response.url());
      else alarm(`${request.method()} ${request.url()} returned ${status}`);
    });
    return context.newPage();
  }

  /** A browser context with a logged-in user. */
  async logIn(name, options = {}, password = PASSWORD) {
    const page = await this.newPage(name, options);
    await page.goto(`${this.origin}/login`);
    await page.getByLabel("Username").fill(name);
    await page.getByLabel("Password").fill(password);
    await page.getByRole("button", { name: "Log in" }).click();
    await page.waitForURL((url) => url.pathname !== "/login");
    return page;
  }

  /** Calls the API. */
  async api(token, method, path, body) {
    const headers = { authorization: `Bearer ${token}`, "content-type": "application/json" };
    const response = await fetch(`${this.origin}/v4${path}`, { method, headers, body: body && JSON.stringify(body) });
    const json = await response.json();
    assert.equal(response.status, 200, `${method} ${path}: ${JSON.stringify(json)}`);
    return json;
  }

  async screenshot(page, name) {
    if (!this.screenshots) return;
    const fullPage = (await page.evaluate(() => document.documentElement.scrollHeight)) < 8000;
    await page.screenshot({ path: join(this.screenshots, `${name}.png`), fullPage });
  }

  /** Fails the test if there was an alarm. */
  assertNoAlarms() {
    // The browser also logs expected error pages on its console.
    const isExpected = ({ text, url }) => /the server responded with a status of 4\d\d/.test(text) && this.#expectedErrors.has(url);
    assert.deepEqual(this.#alarms.filter((alarm) => !isExpected(alarm)).map(({ text, url }) => `${text} ${url}`), []);
  }

  async close() {
    await this.browser?.close();
    if (this.#child) await this.stop();
    rmSync(this.folder, { recursive: true, force: true });
  }
}

/** Runs one test with its own harness. The test may return a summary. */
export async function runTest(title, run, { hosts = [] } = {}) {
  const harness = new Harness(hosts);
  const started = performance.now();
  try {
    harness.browser = await chromium.launch({ executablePath: process.env.CHROMIUM, args: ["--no-sandbox"] });
    const summary = await run(harness);
    harness.assertNoAlarms();
    const seconds = ((performance.now() - started) / 1000).toFixed(1);
    console.log(`ok     ${title}${summary ? `: ${summary}` : ""} (${seconds} s)`);
  } finally {
    await harness.close();
  }
}

/** Asserts that a page is not wider than the window, that nothing is cut off at the right edge, and that rows are even. */
export async function fits(page, name) {
  const { width } = page.viewportSize();
  const found = await page.evaluate((width) => {
    const all = [...document.querySelectorAll("body *")];
    const describe = (elements) => elements.slice(0, 3).map((element) => element.outerHTML.slice(0, 120));
    // Text for screen readers is one pixel wide.
    const isCutOff = (element) => element.clientWidth > 1 && element.scrollWidth > element.clientWidth + 1 && getComputedStyle(element).overflowX === "hidden";
    // A text on the address map must fit into its block.
    const right = (element) => element.getBoundingClientRect().right;
    const leavesBlock = (element) => element.matches(".map svg text") && right(element) > right(element.parentElement.querySelector(".block")) + 1;
    // The fields and buttons of a row have the same height.
    const controls = (row) => [...row.querySelectorAll("input:not([type=hidden], [type=checkbox], [type=radio]), select, button")];
    const heights = (row) => controls(row).map((control) => Math.round(control.getBoundingClientRect().height)).filter((height) => height > 0);
    const isUneven = (element) => element.matches("form.search, form.inline") && new Set(heights(element)).size > 1;
    return {
      width: document.documentElement.scrollWidth,
      beyondEdge: describe(all.filter((element) => element.getBoundingClientRect().right > width + 1)),
      cut: describe(all.filter(isCutOff)),
      outside: describe(all.filter(leavesBlock)),
      uneven: describe(all.filter(isUneven)),
    };
  }, width);
  assert.ok(found.width <= width, `${name} is ${found.width} wide in a window of ${width}: ${found.beyondEdge.join("\n")}`);
  assert.deepEqual(found.cut, [], `${name} is cut off in a window of ${width}`);
  assert.deepEqual(found.outside, [], `${name} has texts that leave their blocks in a window of ${width}`);
  assert.deepEqual(found.uneven, [], `${name} has rows with controls of different heights in a window of ${width}`);
}
