// Accessibility and layout of every page: no serious finding of axe-core in light or dark mode, and no page wider than a
// phone. The pages are read from the console's table, so that no page is forgotten. Error pages and notices are added.

import assert from "node:assert/strict";
import { readFileSync, readdirSync } from "node:fs";
import { join } from "node:path";
import axe from "axe-core";
import { DESKTOP, PASSWORD, PHONE, TABLET, fits, runTest } from "./harness.mjs";

/** GET responses that are not pages: files, streams, and fragments of pages. */
const PARTS = ["consoleAsset", "brandAsset", "checkVpcNew", "checkSubnetNew", "getAttachmentFile", "getAttachmentImage", "followEvents", "followDesk", "getDeskAttachmentFile", "getDeskAttachmentImage", "exportVpcs", "exportSubnets", "exportInstances", "exportAddresses", "exportVpcAddresses", "exportTickets", "exportDeskReport", "exportProviderAccountFile"];
/** The rules about colors, which are checked again in dark mode. */
const COLOR_RULES = ["color-contrast", "link-in-text-block"];

/** The pages of the tables in the console's source: ID and path. */
function table() {
  const files = readdirSync(process.env.CONSOLE_SOURCE, { recursive: true }).filter((name) => name.endsWith(".rs"));
  const source = files.map((name) => readFileSync(join(process.env.CONSOLE_SOURCE, name), "utf8")).join("\n");
  const paths = Object.fromEntries([...source.matchAll(/const (\w+): &str = "([^"]+)";/g)].map(([, name, path]) => [name, path]));
  const pages = [...source.matchAll(/\bget\(\s*"(\w+)",\s*(?:"(\/[^"]*)"|([A-Z_]+)),/g)];
  assert.ok(pages.length > 40, "the console's table could not be read");
  return new Map(pages.map(([, id, path, name]) => [id, path ?? paths[name]]));
}

class Walk {
  #unchecked = table();
  #checked = new Map();
  #findings = [];

  constructor(harness) {
    this.harness = harness;
    for (const part of PARTS) assert.ok(this.#unchecked.delete(part), `${part} is no longer in the console's table`);
  }

  /** Opens a page of the table with these path parameters, and checks it. */
  async visit(page, id, parameters = {}, query = "") {
    const path = this.#unchecked.get(id) ?? table().get(id);
    const filled = path.replace(/\{(\w+)\}/g, (_, name) => parameters[name] ?? assert.fail(`${id} needs ${name}`));
    const response = await page.goto(`${this.harness.origin}${filled}${query}`);
    assert.equal(response.status(), 200, `${filled}${query}`);
    assert.equal(new URL(page.url()).pathname, filled, `${id} leads elsewhere`);
    await this.check(page, `${id}${query}`);
    this.#unchecked.delete(id);
  }

  /** Checks the current page. */
  async check(page, name) {
    assert.ok(!this.#checked.has(name), `${name} was checked before`);
    for (const colorScheme of ["light", "dark"]) {
      await page.emulateMedia({ colorScheme });
      await this.#audit(page, name, colorScheme);
      await this.harness.screenshot(page, `${name.replace(/\W+/g, "-")}-${colorScheme}`);
    }
    await page.emulateMedia({ colorScheme: "light" });
    for (const [device, size] of [["tablet", TABLET], ["phone", PHONE]]) {
      await page.setViewportSize(size);
      await fits(page, name).catch((error) => this.#findings.push(error.message));
      await this.harness.screenshot(page, `${name.replace(/\W+/g, "-")}-${device}`);
    }
    await page.setViewportSize(DESKTOP);
    this.#checked.set(name, page.url());
  }

  async #audit(page, name, colorScheme) {
    // The script is evaluated, because the content security policy blocks script elements.
    if (!(await page.evaluate(() => "axe" in globalThis))) await page.evaluate(`{ ${axe.source} } 0`);
    const options = { resultTypes: ["violations"], ...(colorScheme === "dark" && { runOnly: COLOR_RULES }) };
    const { violations } = await page.evaluate((options) => globalThis.axe.run(document, options), options);
    for (const { id, impact, nodes, help } of violations.filter(({ impact }) => ["serious", "critical"].includes(impact))) {
      const places = nodes.slice(0, 3).map((node) => `    ${node.html.slice(0, 160)}\n      ${node.failureSummary.split("\n").at(-1).trim()}`);
      this.#findings.push(`${name}, ${colorScheme}: ${impact}: ${id}, ${help} (${nodes.length} times)\n${places.join("\n")}`);
    }
  }

  end() {
    assert.deepEqual([...this.#unchecked.keys()], [], "pages of the table that were not checked");
    assert.ok(this.#findings.length === 0, `${this.#findings.length} findings:\n${this.#findings.join("\n")}`);
    return `${this.#checked.size} pages, each in light and dark mode, on a tablet and on a phone`;
  }
}

const press = (page, name) => page.getByRole("button", { name, exact: true }).last().click();

/** Resources with names of the maximum length, without spaces. */
async function longNames(harness, token) {
  const post = (path, body) => harness.api(token, "POST", path, body);
  const label = "a".repeat(64);
  const subnets = [{ label, ipv4: "10.200.0.0/29", ipv6: [{ range: "/56" }] }, { label: "wide", ipv4: "10.201.0.0/29", ipv6: [{ range: "/52" }] }];
  const vpc = await post("/vpcs", { label, region: "us-east", ipv6: [{ range: "/48" }], subnets });
  const interfaces = [{ purpose: "vpc", subnet_id: vpc.subnets[0].id }];
  const instance = await post("/linode/instances", { label: "b".repeat(64), region: "us-east", type: "g6-nanode-1", tags: ["t".repeat(50)], interfaces });
  const ticket = await post("/support/tickets", { summary: "c".repeat(64), description: "d".repeat(400), vpc_id: vpc.id });
  await post("/account/users", { username: "e".repeat(32), email: `${"f".repeat(50)}@example.com`, restricted: true });
  await post("/account/oauth-clients", { label: "g".repeat(128), redirect_uri: `https://example.com/${"h".repeat(200)}` });
  await post("/profile/tokens", { label: "i".repeat(100), scopes: "vpc:read_only linodes:read_write events:read_only ips:read_only" });
  return { computeId: instance.id, vpcId: vpc.id, vpcSubnetId: vpc.subnets[0].id, ticketId: ticket.id, username: "e".repeat(32) };
}

async function logIn(walk, harness) {
  const page = await harness.newPage("anonymous");
  await walk.visit(page, "pageUnsubscribe", {}, "?user=1&signature=0");
  await walk.visit(page, "pageLogIn");
  await page.getByLabel("Username").fill("mara");
  await page.getByLabel("Password").fill("not it");
  await press(page, "Log in");
  await page.getByRole("alert").waitFor();
  await walk.check(page, "log-in refused");
  await page.goto(`${harness.origin}/oauth/authorize?client_id=missing&response_type=code`);
  await walk.check(page, "authorization refused");
  await page.goto(`${harness.origin}/forgot/password`);
  await walk.check(page, "forgotten password");
  harness.garth(["user", "create", "--account", "1", "--username", "newcomer", "--email", "newcomer@example.com"]);
  const link = new URL(harness.garth(["user", "link", "newcomer"]).trim());
  await page.goto(harness.origin + link.pathname);
  await walk.check(page, "password link");
  await page.getByLabel("New password", { exact: true }).fill("a first password");
  await page.getByLabel("Confirm new password").fill("another password");
  await press(page, "Set password");
  await page.getByRole("alert").waitFor();
  await walk.check(page, "password link refused");
  for (const label of ["New password", "Confirm new password"]) await page.getByLabel(label, { exact: true }).fill(PASSWORD);
  await press(page, "Set password");
  await page.getByRole("heading", { name: "Password set" }).waitFor();
  await walk.check(page, "password set");
  await page.goto(harness.origin + link.pathname);
  await walk.check(page, "password link used");
  for (const path of ["/docs", "/docs/vpc-subnets", "/docs/errors", "/docs?q=subnet+label", "/docs?q=nothing-like-it"]) {
    await page.goto(harness.origin + path);
    for (const part of await page.locator(".samples summary, .setup summary").all()) await part.click();
    for (const part of await page.locator(".try summary").all()) await part.click();
    await walk.check(page, path);
  }
  await page.goto(`${harness.origin}/docs/missing`);
  await walk.check(page, "/docs/missing");
}

/** Authorizes an application, so that the list of applications is not empty. */
async function consent(walk, harness, page) {
  const back = `${harness.origin}/vpcs`;
  const created = harness.garth(["client", "create", "--label", "Report maker", "--redirect-uri", back]);
  const [id, secret] = [created.match(/\b[0-9a-f]{20}\b/)[0], created.match(/\b[0-9a-f]{64}\b/)[0]];
  const query = new URLSearchParams({ client_id: id, response_type: "code", scope: "vpc:read_only events:read_only", redirect_uri: back });
  await page.goto(`${harness.origin}/oauth/authorize?${query}`);
  await walk.check(page, "consent");
  await press(page, "Allow");
  await page.waitForURL(/code=/);
  const code = new URL(page.url()).searchParams.get("code");
  const fields = new URLSearchParams({ grant_type: "authorization_code", client_id: id, client_secret: secret, code, redirect_uri: back });
  const response = await fetch(`${harness.origin}/oauth/token`, { method: "POST", body: fields });
  assert.equal(response.status, 200, await response.text());
}

async function networks(walk, harness, page, long) {
  await walk.visit(page, "pageHome");
  const vpc = { vpcId: 1 };
  const subnet = { vpcId: 1, vpcSubnetId: 1 };
  await walk.visit(page, "pageVpcs");
  await walk.visit(page, "pageVpcs", {}, "?q=nothing-like-it");
  await walk.visit(page, "pageVpcsBulk", {}, "?action=delete&id.1=on&id.2=on&id.3=on");
  await walk.visit(page, "pageVpcNew");
  await page.locator(".check .good").waitFor();
  await page.getByLabel("IPv4 range").fill("8.8.8.8/33");
  await page.locator(".check .bad").first().waitFor();
  await walk.check(page, "a VPC while typing its range");
  await page.getByLabel("Region").selectOption({ index: 1 });
  await page.getByLabel("Label").first().fill("not_good");
  await press(page, "Create VPC");
  await page.getByRole("alert").waitFor();
  await walk.check(page, "a VPC refused");
  await walk.visit(page, "pageVpc", vpc);
  await walk.visit(page, "pageSubnets", vpc);
  await walk.visit(page, "pageSubnets", vpc, "?q=nothing-like-it");
  await walk.visit(page, "pageSubnets", long, "?long");
  await walk.visit(page, "pageSubnetsBulk", vpc, "?action=delete&id.1=on&id.2=on&id.3=on");
  await walk.visit(page, "pageSubnetsBulk", long, `?action=delete&id.${long.vpcSubnetId + 1}=on`);
  await press(page, "Delete 1 subnet");
  await page.getByRole("alert").waitFor();
  await walk.check(page, "a bulk deletion without confirmation");
  await walk.visit(page, "pageVpcEdit", vpc);
  const stale = await page.locator("[name=version]").inputValue();
  await page.locator("[name=version]").evaluate((field, value) => { field.value = value; }, `${stale.slice(0, -2)}x"`);
  await press(page, "Save");
  await page.getByText("This was changed after you opened the page.").waitFor();
  await walk.check(page, "a VPC with a conflict");
  await walk.visit(page, "pageVpcDelete", vpc);
  await walk.visit(page, "pageSubnet", subnet);
  await walk.visit(page, "pageSubnet", { vpcId: 1, vpcSubnetId: 4 }, "?small");
  await walk.visit(page, "pageSubnet", { vpcId: 1, vpcSubnetId: 5 }, "?large");
  await walk.visit(page, "pageSubnet", { vpcId: 1, vpcSubnetId: 5 }, "?in=10.10.24.0/24");
  for (const id of ["pageVpc", "pageVpcEdit", "pageVpcDelete", "pageSubnet", "pageSubnetDelete"]) await walk.visit(page, id, long, "?long");
  await walk.visit(page, "pageSubnetNew", long, "?long");
  await walk.visit(page, "pageSubnet", { ...long, vpcSubnetId: long.vpcSubnetId + 1 }, "?wide");
  await walk.visit(page, "pageSubnetEdit", subnet);
  await walk.visit(page, "pageSubnetDelete", subnet);
  await walk.visit(page, "pageSubnetNew", vpc);
  await page.getByLabel("IPv4 range").fill("10.10.0.0/24");
  await page.locator(".check .bad").first().waitFor();
  await press(page, "Add subnet");
  await page.getByRole("alert").waitFor();
  await walk.check(page, "a subnet refused");
  await page.getByLabel("Label").fill("spare");
  await page.getByLabel("IPv4 range").fill("10.99.0.0/29");
  await press(page, "Add subnet");
  await page.getByText("Subnet added.").waitFor();
  await walk.check(page, "an empty subnet with a notice");
  await page.getByRole("link", { name: "Delete" }).click();
  await page.getByLabel("Type “spare” to confirm").fill("no");
  await press(page, "Delete subnet");
  await page.getByRole("alert").waitFor();
  await walk.check(page, "deleting refused");
  await page.goto(`${harness.origin}/vpcs/999999`);
  await walk.check(page, "not found");
}

/** A VPC with more subnets than fit on its page, in an account without the quotas of the demo. */
async function largeVpc(walk, harness) {
  harness.garth(["account", "create", "--company", "Large", "--email", "large@example.com"]);
  harness.user("large", "--account", "4");
  const token = harness.garth(["token", "create", "--user", "large", "--label", "test"]).trim();
  const page = await harness.logIn("large");
  const subnets = Array.from({ length: 150 }, (_, at) => ({ label: `branch-${at}`, ipv4: `10.${at}.0.0/20` }));
  const { id } = await harness.api(token, "POST", "/vpcs", { label: "branches", region: "us-east", subnets });
  await walk.visit(page, "pageVpcMap", { vpcId: id });
  await walk.visit(page, "pageVpc", { vpcId: id }, "?large");
  await page.locator("svg.wide a").first().click();
  await page.waitForURL(/subnets\?q=10\.0\.0\.0\/14/);
  await page.getByRole("link", { name: "branch-3" }).waitFor();
  await walk.visit(page, "pageSubnets", { vpcId: id }, "?large");
  await page.getByRole("link", { name: "Label" }).click();
  await page.locator("th[aria-sort=ascending]").waitFor();
  await walk.check(page, "sorted subnets");
}

async function instances(walk, harness, page, token, long) {
  const origin = harness.origin;
  await walk.visit(page, "pageInstances");
  await walk.visit(page, "pageInstances", {}, "?q=nothing-like-it");
  const [first] = (await harness.api(token, "GET", "/linode/instances")).data;
  await walk.visit(page, "pageInstance", { computeId: first.id });
  for (const name of ["Reboot", "Shut down"]) {
    await page.locator("summary", { hasText: name }).click();
    await walk.check(page, `an instance: ${name}`);
    await page.goto(`${origin}/instances/${first.id}`);
  }
  await walk.visit(page, "pageInstancesBulk", {}, `?action=shutdown&id.${first.id}=on&id.${long.computeId}=on`);
  await walk.visit(page, "pageInstanceNew");
  await press(page, "Create instance");
  await walk.visit(page, "pageInstanceNew", {}, `?subnet_id=${long.vpcSubnetId}`);
  await page.getByLabel("Region").selectOption("us-east");
  await page.getByLabel("Plan").selectOption({ index: 1 });
  await page.getByLabel("Label").fill("!!!");
  await page.getByLabel("Private address").fill("1.2.3.4");
  await press(page, "Create instance");
  await page.getByRole("alert").waitFor();
  await walk.check(page, "an instance refused");
  const [config] = (await harness.api(token, "GET", `/linode/instances/${long.computeId}/configs`)).data;
  const of = { ...long, configId: config.id, interfaceId: config.interfaces[0].id };
  for (const id of ["pageInstance", "pageInstanceEdit", "pageInstanceDelete", "pageInstanceAttach", "pageConfigNew", "pageConfigEdit", "pageConfigDelete", "pageInterfaceDetach"]) {
    await walk.visit(page, id, of, "?long");
  }
  await walk.visit(page, "pageSubnetAttach", long, "?address=10.200.0.3");
  await harness.api(token, "POST", `/linode/instances/${long.computeId}/boot`, {});
  await walk.visit(page, "pageInterfaceDetach", of, "?running");
  await walk.visit(page, "pageInstance", of, "?running");
}

/** The page of the search, and its results below the search box. */
async function search(walk, page, id, text) {
  await walk.visit(page, id);
  await walk.visit(page, id, {}, `?q=${text}`);
  await walk.visit(page, id, {}, "?q=nothing-like-it");
  await page.locator("#find").fill(text);
  await page.locator("#find-results a").first().waitFor();
  await walk.check(page, `${id}: results while typing`);
}

async function tickets(walk, page, long) {
  await walk.visit(page, "pageTickets");
  await walk.visit(page, "pageTickets", {}, "?status=closed");
  await walk.visit(page, "pageTicketsBulk", {}, `?action=close&id.1=on&id.3=on&id.${long.ticketId}=on`);
  await walk.visit(page, "pageTicketNew");
  await page.getByLabel("Subject").fill("Draft");
  await page.getByLabel("Description").fill("> quoted\n\n1. `code`\n2. [a link](https://example.com)\n\n```\nlong line ".padEnd(300, "x") + "\n```");
  await page.locator("[data-drop] input[type=file]").setInputFiles([{ name: "log.txt", mimeType: "text/plain", buffer: Buffer.from("hop") }, { name: "bad.exe", mimeType: "x/y", buffer: Buffer.from("MZ") }]);
  await press(page, "Preview");
  await page.locator(".preview .md").waitFor();
  await walk.check(page, "a ticket with preview and files");
  await walk.visit(page, "pageTicketNew", {}, "?about=vpc_id:1");
  assert.equal(await page.getByLabel("Subject").inputValue(), "", "a ticket about an object has its own draft");
  await page.goto(`${walk.harness.origin}/tickets/new`);
  await page.getByText("Restored an unsent draft").waitFor();
  await walk.check(page, "a ticket from a draft");
  await page.goto(`${walk.harness.origin}/tickets/new?about=vpc_id:1`);
  await page.getByText("Not in the list?").click();
  await page.getByLabel("Type").selectOption({ index: 1 });
  await page.getByLabel("ID").last().fill("999999");
  await press(page, "Open ticket");
  await page.getByRole("alert").waitFor();
  await walk.check(page, "a ticket refused");
  await walk.visit(page, "pageTicket", { ticketId: 1 }, "?closed");
  await walk.visit(page, "pageTicket", long, "?long");
  await walk.visit(page, "pageTicket", { ticketId: 3 });
  await page.locator("summary", { hasText: "Close ticket" }).click();
  await walk.check(page, "closing a ticket");
  await walk.visit(page, "pageEvents");
  await walk.visit(page, "pageEvents", {}, "?kind=subnet&action=create&from=2024-05-31");
  await walk.visit(page, "pageEvents", {}, "?from=nonsense");
}

async function account(walk, page, long) {
  await walk.visit(page, "pageProfile");
  await page.getByLabel("E-mail", { exact: true }).fill("nowhere");
  await press(page, "Save");
  await page.getByRole("alert").waitFor();
  await walk.check(page, "a profile refused");
  await page.getByLabel("Current password").fill("x");
  for (const label of ["New password", "Confirm new password"]) await page.getByLabel(label, { exact: true }).fill("short");
  await press(page, "Change password");
  await page.getByRole("alert").waitFor();
  await walk.check(page, "a password refused");
  await walk.visit(page, "pageTokens");
  await walk.visit(page, "pageTokenNew");
  await page.getByRole("row", { name: /VPCs and subnets/ }).getByLabel("No access").check();
  await press(page, "Create token");
  await page.getByRole("alert").waitFor();
  await walk.check(page, "a token refused");
  await page.getByLabel("Full access").check();
  await press(page, "Create token");
  await page.locator("#secret").waitFor();
  await walk.check(page, "a token shown once");
  await page.reload();
  await page.getByRole("heading", { name: "This token was already created" }).waitFor();
  await walk.check(page, "a token created twice");
  await page.goto(`${walk.harness.origin}/nope`);
  await page.getByRole("link", { name: "VPCs" }).waitFor();
  await walk.check(page, "an unknown path");
  const idIn = async (path, pattern) => {
    await page.goto(`${walk.harness.origin}${path}`);
    return (await page.content()).match(pattern)[1];
  };
  const token = { tokenId: await idIn("/account/tokens", /tokens\/(\d+)\/revoke/) };
  for (const id of ["pageTokenEdit", "pageTokenRevoke"]) await walk.visit(page, id, token);
  await walk.visit(page, "pageApps");
  await walk.visit(page, "pageAppRevoke", { appId: await idIn("/account/apps", /apps\/(\d+)\/revoke/) });
  await walk.visit(page, "pageUsers");
  await walk.visit(page, "pageUserNew");
  await page.getByLabel("Username").fill("x");
  await page.getByLabel("E-mail").fill("y");
  await press(page, "Create user");
  await page.getByRole("alert").waitFor();
  await walk.check(page, "a user refused");
  await page.getByLabel("Username").fill("intern");
  await page.getByLabel("E-mail").fill("intern@example.com");
  await press(page, "Create user");
  await page.getByText("User created.").waitFor();
  await walk.check(page, "a new user without a password");
  await press(page, "Generate link");
  await page.locator("#secret").waitFor();
  await walk.check(page, "a link shown once");
  const elif = { username: "elif" };
  for (const id of ["pageUser", "pageUserEdit", "pageUserDelete", "pageGrants"]) await walk.visit(page, id, elif);
  for (const id of ["pageUser", "pageUserDelete", "pageGrants"]) await walk.visit(page, id, long, "?long");
  await walk.visit(page, "pageGrants", elif, "?q=nothing-like-it");
  await walk.visit(page, "pageGrantsSet", elif, "?to=read_only&apply=all");
  await walk.visit(page, "pageGrantsSet", elif, "?to=read_only&apply=selected");
  await walk.visit(page, "pageUser", { username: "mara" }, "?oneself");
  await walk.visit(page, "pageClients");
  await walk.visit(page, "pageClientNew");
  await page.getByLabel("Label").fill("Tool");
  await page.getByLabel("Redirect URI").fill("nowhere");
  await press(page, "Create client");
  await page.getByRole("alert").waitFor();
  await walk.check(page, "a client refused");
  await page.getByLabel("Redirect URI").fill("https://tool.example.com/back");
  await press(page, "Create client");
  await page.locator("#secret").waitFor();
  await walk.check(page, "a client's secret shown once");
  const client = { clientId: await idIn("/account/clients", /clients\/(\w+)\/reset/) };
  for (const id of ["pageClientEdit", "pageClientReset", "pageClientDelete"]) await walk.visit(page, id, client);
  await walk.visit(page, "pageQuotas");
}

/** The pages of an empty account and of a restricted user. */
async function emptyAndRestricted(walk, harness, password) {
  harness.garth(["account", "create", "--company", "Empty", "--email", "empty@example.com"]);
  harness.user("empty", "--account", "3");
  const empty = await harness.logIn("empty");
  for (const id of ["pageHome", "pageVpcs", "pageInstances", "pageInstanceNew", "pageTickets", "pageEvents", "pageTokens", "pageApps", "pageClients", "pageQuotas"]) {
    await walk.visit(empty, id, {}, "?empty");
  }
  const elif = await harness.logIn("elif", {}, password);
  await walk.visit(elif, "pageVpc", { vpcId: 1 }, "?restricted");
  await walk.visit(elif, "pageProfile", {}, "?restricted");
  await elif.goto(`${harness.origin}/account/users`);
  await walk.check(elif, "forbidden");
}

async function desk(walk, harness, sam, noor, long) {
  const ticket = { ticketId: 3 };
  await walk.visit(sam, "pageDeskHome");
  await walk.visit(sam, "pageDesk");
  await walk.visit(sam, "pageDesk", {}, "?q=nothing-like-it");
  const rows = async () => new Set(await sam.locator(".search :is(input, select)").evaluateAll((all) => all.map((one) => one.getBoundingClientRect().top)));
  const before = await rows();
  await sam.goto(`${harness.origin}/desk?q=%21%21`);
  await walk.check(sam, "a refused search");
  assert.equal((await rows()).size, before.size, "the error of one field moves the others");
  await walk.visit(sam, "pageDesk", {}, "?status=all&order=pressing");
  await walk.visit(sam, "pageDesk", {}, "?order=left");
  await walk.visit(sam, "pageDeskBulk", {}, `?action=close&id.1=on&id.3=on&id.${long.ticketId}=on`);
  await walk.visit(sam, "pageMailChoices");
  await walk.visit(sam, "pageDeskReports");
  await sam.locator("summary", { hasText: "Figures by day" }).click();
  await walk.check(sam, "figures of a report");
  await sam.goto(`${harness.origin}/desk/reports?from=never`);
  await walk.check(sam, "a report refused");
  await walk.visit(sam, "pageSavedViews", {}, "?none");
  await walk.visit(sam, "pageSavedViewNew", {}, "?status=waiting&tag=network");
  await press(sam, "Save");
  await sam.getByRole("alert").waitFor();
  await walk.check(sam, "a view refused");
  await sam.getByLabel("Label").fill("W".repeat(64));
  await press(sam, "Save");
  await sam.getByText("View saved.").waitFor();
  await walk.check(sam, "a queue with a saved view");
  await walk.visit(sam, "pageSavedViews");
  await walk.visit(sam, "pageDeskKeys");
  await walk.visit(sam, "pageStaffPassword");
  await press(sam, "Change password");
  await sam.getByRole("alert").waitFor();
  await walk.check(sam, "a password of staff refused");
  await sam.goto(`${harness.origin}/desk`);
  await sam.keyboard.press("?");
  await sam.locator("dialog").waitFor();
  await walk.check(sam, "keyboard shortcuts");
  await walk.visit(sam, "pageDeskTicketNew");
  await walk.visit(sam, "pageDeskTicketNew", {}, "?account_id=2");
  await sam.getByLabel("Subject").fill("Without a text");
  await sam.getByLabel("Message to the customer").fill(" ");
  await press(sam, "Open ticket for customer");
  await sam.getByRole("alert").waitFor();
  await walk.check(sam, "a customer's ticket refused");
  await noor.goto(`${harness.origin}/desk/tickets/3`);
  await walk.visit(sam, "pageDeskTicket", ticket);
  await sam.getByText("noor is also viewing this ticket.").waitFor();
  await sam.getByLabel("Canned reply").selectOption({ index: 1 });
  await sam.locator("#canned .md").waitFor();
  await sam.keyboard.press("Escape");
  await sam.locator("summary", { hasText: "Internal note" }).click();
  await walk.check(sam, "a note while a colleague views the ticket");
  await sam.getByLabel("Note", { exact: false }).last().fill(" ");
  await press(sam, "Save internal note");
  await sam.getByRole("alert").waitFor();
  await walk.check(sam, "a note refused");
  await noor.locator("summary", { hasText: "Internal note" }).click();
  await noor.getByLabel("Note", { exact: false }).last().fill("I have a look.");
  await press(noor, "Save internal note");
  await sam.locator("#arrived").getByText("noor wrote an internal note").waitFor();
  await walk.check(sam, "updates at the box");
  await noor.locator("summary", { hasText: "Reassign to me" }).click();
  await walk.check(noor, "reassigning");
  await sam.locator("summary", { hasText: "Assign…" }).click();
  await walk.check(sam, "assigning to a colleague");
  await walk.visit(sam, "pageDeskMerge", ticket);
  await walk.visit(sam, "pageDeskMerge", ticket, "?q=nothing-like-it");
  await walk.visit(sam, "pageDeskMerge", ticket, "?into=4");
  await walk.visit(sam, "pageDeskTicket", { ticketId: 1 }, "?closed");
  await walk.visit(sam, "pageDeskTicket", long, "?long");
  await walk.visit(sam, "pageDeskVpc", long, "?long");
  await walk.visit(sam, "pageDeskSubnet", long, "?long");
  await walk.visit(sam, "pageCannedReplies");
  await walk.visit(sam, "pageCannedReplyNew");
  await walk.visit(sam, "pageCannedReply", { cannedReplyId: 1 });
  await sam.locator("summary", { hasText: "Delete" }).click();
  await walk.check(sam, "deleting a canned reply");
  await walk.visit(sam, "pageHosts", {}, "?none");
  const label = "a".repeat(64);
  harness.garth(["host", "add", label, "--region", "us-east", "--underlay", "2001:db8:1111:2222:3333:4444:5555:6666"]);
  await walk.visit(sam, "pageHosts");
  await walk.visit(sam, "pageHostNew");
  await walk.visit(sam, "pageHost", { hostId: 1 });
  // Each confirmation closes the one before.
  for (const action of ["Drain", "Remove", "New join token"]) {
    await sam.locator("summary", { hasText: action }).click();
    await walk.check(sam, `${action} of a host`);
  }
  await press(sam, "Create join token");
  await sam.getByRole("heading", { name: "Join token created" }).waitFor();
  await walk.check(sam, "a join token");
  await provider(walk, sam, long);
  await sam.goto(`${harness.origin}/desk/tickets/999999`);
  await walk.check(sam, "not found at the desk");
}

async function provider(walk, sam, long) {
  await walk.visit(sam, "pageProviderAccounts");
  await walk.visit(sam, "pageProviderAccounts", {}, "?sort=-usage.vpcs");
  await walk.visit(sam, "pageProviderAccounts", {}, "?q=nothing");
  await walk.visit(sam, "pageProviderAccountNew");
  await press(sam, "Create account");
  await walk.check(sam, "an account without an e-mail address");
  const account = { accountId: 3 };
  await walk.visit(sam, "pageProviderAccount", account);
  await walk.visit(sam, "pageProviderAccountUserNew", account);
  await press(sam, "Add user");
  await sam.getByRole("alert").waitFor();
  await walk.check(sam, "a user without a name");
  await walk.visit(sam, "pageProviderAccount", account, "?actions");
  for (const action of ["Suspend", "Close"]) {
    await sam.locator("summary", { hasText: action }).click();
    await walk.check(sam, `${action} of an account`);
  }
  const owner = { ...long, accountId: 1 };
  await walk.visit(sam, "pageProviderAccount", owner, "?long");
  await walk.visit(sam, "pageProviderAccountActivity", owner);
  await walk.visit(sam, "pageProviderAccountActivity", owner, "?user=no-such-user");
  await walk.visit(sam, "pageProviderAccountVpcs", owner);
  await walk.visit(sam, "pageProviderAccountVpc", owner);
  await walk.visit(sam, "pageProviderAccountInstances", owner);
  await walk.visit(sam, "pageProviderAccountInstances", owner, "?q=nothing-like-it");
  await walk.visit(sam, "pageProviderAccountEdit", account);
  await walk.visit(sam, "pageAccountUserMails", { accountId: 1, username: "mara" });
  await walk.visit(sam, "pageProviderAccountQuotas", account);
  await walk.visit(sam, "pageJobs");
  await walk.visit(sam, "pageMailTemplates");
  const closedMail = sam.getByRole("group", { name: "Ticket closed" });
  await closedMail.getByLabel("Introduction").fill("I".repeat(1000));
  await closedMail.getByLabel("Closing").fill("Until {{then}}");
  await closedMail.getByRole("button", { name: "Preview" }).click();
  await walk.check(sam, "a refused preview of a mail");
  await closedMail.getByLabel("Closing").fill("Until {{ticket.id}}");
  await closedMail.getByRole("button", { name: "Preview" }).click();
  await sam.frameLocator("iframe").getByText("Until 12").waitFor();
  await walk.check(sam, "a preview of a mail");
  await sam.getByRole("navigation", { name: "Preview of another mail" }).getByRole("button", { name: "Reply" }).click();
  await sam.getByRole("heading", { name: "Preview: Reply" }).waitFor();
  assert.equal(await closedMail.getByLabel("Closing").inputValue(), "Until {{ticket.id}}", "the form keeps the texts");
  await walk.visit(sam, "pageSuppressedAddresses");
  await walk.visit(sam, "pageProviderRegions");
  await walk.visit(sam, "pageProviderRegionNew");
  await press(sam, "Add region");
  await sam.getByRole("alert").waitFor();
  await walk.check(sam, "a region refused");
  await walk.visit(sam, "pageProviderRegion", { regionId: "us-east" });
  await sam.locator("summary", { hasText: "Retire" }).click();
  await walk.check(sam, "a region to be retired");
  await walk.visit(sam, "pageProviderPlans");
  await walk.visit(sam, "pageProviderPlanNew");
  await press(sam, "Add plan");
  await sam.getByRole("alert").waitFor();
  await walk.check(sam, "a plan refused");
  await walk.visit(sam, "pageProviderPlan", { typeId: "g6-nanode-1" });
  await walk.visit(sam, "pageAnnouncements", {}, "?none");
  await walk.visit(sam, "pageAnnouncementNew");
  await sam.getByLabel("Title").fill("Maintenance in us-east");
  await sam.getByLabel("Text").fill("Instances restart on **Sunday**. See [the plan](https://example.com/plan).");
  await press(sam, "Create announcement");
  await walk.visit(sam, "pageAnnouncements");
  await walk.visit(sam, "pageAnnouncement", { announcementId: 1 });
  await walk.visit(sam, "pageBranding");
  await sam.locator("summary", { hasText: "Reset to defaults" }).waitFor({ state: "detached" });
  await sam.getByLabel("Name").fill("N".repeat(64));
  await sam.getByLabel("Label of link 1").fill("L".repeat(64));
  await press(sam, "Preview");
  await walk.check(sam, "a refused preview of the brand");
  await sam.getByLabel("URL of link 1").fill("https://example.com");
  await sam.getByLabel("Footer").fill("F".repeat(500));
  await press(sam, "Preview");
  await walk.check(sam, "a preview of a long brand");
  await walk.visit(sam, "pageStaff");
  await walk.visit(sam, "pageStaffNew");
  await walk.visit(sam, "pageStaffUser", { staffUsername: "noor" });
  await press(sam, "Password link");
  await sam.getByRole("heading", { name: "Password link for noor" }).waitFor();
  await walk.check(sam, "a password link for staff");
}

await runTest("accessibility and layout of every page", async (harness) => {
  const output = await harness.serve("demo");
  const password = output.match(/^ {4}(\S+-\S+)$/m)[1];
  const token = output.match(/Bearer (\w+)/)[1];
  await harness.api(token, "POST", "/support/tickets", { summary: "About a network", description: "Which one?", vpc_id: 1 });
  const long = await longNames(harness, token);
  const walk = new Walk(harness);
  await logIn(walk, harness);
  const mara = await harness.logIn("mara", {}, password);
  await consent(walk, harness, mara);
  await networks(walk, harness, mara, long);
  await instances(walk, harness, mara, token, long);
  await search(walk, mara, "pageSearch", "a");
  await tickets(walk, mara, long);
  await account(walk, mara, long);
  await emptyAndRestricted(walk, harness, password);
  await largeVpc(walk, harness);
  const [sam, noor] = [await harness.logIn("sam", {}, password), await harness.logIn("noor", {}, password)];
  await desk(walk, harness, sam, noor, long);
  await search(walk, sam, "pageDeskSearch", "a");
  const about = (await harness.api(token, "GET", "/support/tickets")).data.find((ticket) => ticket.summary === "About a network");
  await walk.visit(sam, "pageDeskVpc", { ticketId: about.id });
  await walk.visit(sam, "pageDeskMails", { ticketId: about.id });
  await walk.visit(sam, "pageDeskSubnet", { ticketId: about.id, vpcSubnetId: 4 });
  await mara.goto(`${harness.origin}/vpcs`);
  await walk.check(mara, "a page with an announcement");
  await mara.goto(`${harness.origin}/logout`);
  await walk.check(mara, "logged out");
  return walk.end();
});
