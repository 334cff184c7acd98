// The API reference: search, samples, old URLs, and the form that sends requests.

import assert from "node:assert/strict";
import { fits, runTest } from "./harness.mjs";

const SIZES = [{ width: 390, height: 844 }, { width: 1440, height: 900 }];

async function search(page, { origin }) {
  await page.goto(`${origin}/docs`);
  await page.keyboard.press("/");
  await page.keyboard.type("create subnet");
  const results = page.locator("#found a");
  await results.filter({ hasText: "/v4/vpcs/{vpcId}/subnets" }).first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Escape");
  await results.first().waitFor({ state: "detached" });
  await page.locator("#find").fill("label_taken");
  await results.filter({ hasText: "label_taken" }).first().waitFor();
  await page.keyboard.press("ArrowDown");
  await page.keyboard.press("Enter");
  await page.waitForURL(/\/docs\/errors#label_taken$/);
  await page.locator("#find").fill("nothing-like-it");
  await page.getByText("No results for").waitFor();
}

async function oldUrls(page, { origin }) {
  for (const [old, current] of [["#createVpc", "/docs/vpcs#createVpc"], ["#shape-Vpc", "/docs/vpcs#schema-Vpc"]]) {
    await page.goto("about:blank");
    await page.goto(`${origin}/docs${old}`);
    await page.waitForURL(`${origin}${current}`);
  }
}

/** Sends requests with the forms. The token must not leave the memory of the page, except to the API. */
async function tryOut(page, harness, token) {
  const sent = [];
  page.on("request", (request) => sent.push(request));
  await page.goto(`${harness.origin}/docs/vpcs`);
  const article = (id) => page.locator(`article#${id}`);
  const open = (id) => article(id).getByText("Try it").click();
  await open("createVpc");
  await article("createVpc").getByLabel("Token").fill(token);
  await article("createVpc").getByLabel("Body (JSON)").fill('{"label": "from-docs", "region": "us-east"}');
  await article("createVpc").getByRole("button", { name: "Send POST request" }).click();
  await article("createVpc").getByText("200 OK").waitFor();
  assert.match(await article("createVpc").locator("output pre").textContent(), /"label": "from-docs"/);
  const { data: [vpc] } = await harness.api(token, "GET", "/vpcs");
  assert.equal(vpc.label, "from-docs");

  await open("getVpc");
  assert.equal(await article("getVpc").getByLabel("Token").inputValue(), token, "the forms of a page share the token");
  await article("getVpc").getByLabel("vpcId").fill(String(vpc.id));
  await article("getVpc").getByRole("button", { name: "Send GET request" }).click();
  await article("getVpc").getByText("200 OK, ETag").waitFor();
  await open("getVpcs");
  await article("getVpcs").getByLabel("X-Filter").fill('{"label": "other"}');
  await article("getVpcs").getByLabel("page_size").fill("50");
  await article("getVpcs").getByRole("button", { name: "Send GET request" }).click();
  await article("getVpcs").getByText('"results": 0').waitFor();
  await open("deleteVpc");
  await article("deleteVpc").getByLabel("vpcId").fill(`../${vpc.id}?x#y`);
  await harness.whileFailing(async () => {
    await article("deleteVpc").getByRole("button", { name: "Send DELETE request" }).click();
    await article("deleteVpc").getByText("404 Not Found").waitFor();
  });

  const paths = sent.map((request) => new URL(request.url())).filter((url) => url.pathname.startsWith("/v4"));
  assert.deepEqual(paths.map((url) => url.pathname + url.search), ["/v4/vpcs", `/v4/vpcs/${vpc.id}`, "/v4/vpcs?page_size=50", `/v4/vpcs/..%2F${vpc.id}%3Fx%23y`]);
  for (const request of sent) {
    const headers = await request.allHeaders();
    assert.equal("authorization" in headers, new URL(request.url()).pathname.startsWith("/v4"), request.url());
    assert.ok(!request.url().includes(token) && !(request.postData() ?? "").includes(token), request.url());
    if (headers.authorization) assert.equal(headers.cookie, undefined, "the session is not used");
  }
  const stored = await page.evaluate(() => JSON.stringify([{ ...localStorage }, { ...sessionStorage }, document.cookie, location.href, history.state]));
  assert.ok(!stored.includes(token), stored);
  await page.reload();
  await open("getVpc");
  assert.equal(await article("getVpc").getByLabel("Token").inputValue(), "", "the page does not store the token");
}

async function samples(page, { origin }) {
  await page.goto(`${origin}/docs/vpcs`);
  const article = page.locator("article#createVpc");
  assert.match(await article.locator('[data-client="curl"]').textContent(), new RegExp(`curl -X POST ${origin}/v4/vpcs`));
  await article.getByText("Python", { exact: true }).click();
  await article.getByText("client.vpcs.create(").waitFor();
  assert.ok(!(await article.locator('[data-client="curl"]').isVisible()), "one sample is open at a time");
}

async function withoutScript(page, { origin }) {
  await page.goto(`${origin}/docs`);
  await page.locator("#find").fill("nat_1_1");
  await page.keyboard.press("Enter");
  await page.locator("#results a").first().click();
  await page.waitForURL(/\/docs\/[\w-]+#/);
  assert.equal(await page.getByText("Try it").count(), 0);
  await page.goto(`${origin}/docs#createVpc`);
  await page.locator("li#createVpc a").click();
  await page.locator("article#createVpc h3").waitFor();
}

await runTest("the API reference: search, samples, old URLs and requests", async (harness) => {
  await harness.serve();
  harness.user("ada", "--account", "1");
  const token = harness.garth(["token", "create", "--user", "ada"]).match(/\b[0-9a-f]{64}\b/)[0];
  // The reader is logged in to the console, but the forms use only the token.
  const page = await harness.logIn("ada");
  await search(page, harness);
  await oldUrls(page, harness);
  await samples(page, harness);
  for (const size of SIZES) {
    await page.setViewportSize(size);
    for (const path of ["/docs", "/docs/instances", "/docs/errors", "/docs?q=label"]) {
      await page.goto(harness.origin + path);
      await fits(page, path);
      await harness.screenshot(page, `docs${path.replace(/\W+/g, "-")}-${size.width}`);
    }
  }
  await tryOut(page, harness, token);
  await withoutScript(await harness.newPage("plain", { javaScriptEnabled: false }), harness);
});
