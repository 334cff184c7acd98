// Log-in and consent in a browser: from a page of another origin, a public client gets a token with PKCE, and uses,
// refreshes and revokes it. A user sets a password with a link.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { PASSWORD, runTest } from "./harness.mjs";

const CLIENT = "0123456789abcdef0123";

/** The application: an empty page of another origin. */
async function serveApplication() {
  const server = createServer((_, response) => {
    response.setHeader("content-type", "text/html");
    response.end("<!doctype html><title>Application</title><p>Back in the application.");
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { origin: `http://127.0.0.1:${server.address().port}`, server };
}

/** Calls the server from the application's page. */
function fromApplication(page, url, { fields, token } = {}) {
  return page.evaluate(
    async ([url, fields, token]) => {
      const form = fields && new FormData();
      for (const [name, value] of Object.entries(fields ?? {})) form.append(name, value);
      const headers = token ? { authorization: `Bearer ${token}` } : {};
      const response = await fetch(url, { method: form ? "POST" : "GET", body: form, headers });
      return { status: response.status, body: await response.json() };
    },
    [url, fields ?? null, token ?? null],
  );
}

async function logIn(page, origin, application) {
  const redirect = `${application}/callback?returnTo=/vpcs`;
  const verifier = randomBytes(64).toString("base64url");
  const state = randomBytes(16).toString("hex");
  const query = new URLSearchParams({
    client_id: CLIENT,
    response_type: "code",
    scope: "account:read_only vpc:read_write",
    redirect_uri: redirect,
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  await page.goto(`${origin}/oauth/authorize?${query}`);
  return { redirect, verifier, state };
}

async function authorizeApplication(harness, application) {
  const { origin } = harness;
  const page = await harness.newPage("admin");

  // From the application to the log-in page; the first password is wrong. Keyboard only.
  await page.goto(application);
  const first = await logIn(page, origin, application);
  await page.getByRole("heading", { name: "Log in" }).waitFor();
  await page.keyboard.type("admin");
  await page.keyboard.press("Tab");
  await page.keyboard.type("not the password");
  await page.keyboard.press("Enter");
  assert.match(await page.getByRole("alert").innerText(), /Incorrect username or password/);
  assert.equal(await page.getByLabel("Username").inputValue(), "admin");
  await page.getByLabel("Password").fill(PASSWORD);
  await page.getByRole("button", { name: "Log in" }).click();

  // The consent page, and back to the application.
  await page.getByRole("heading", { name: "Allow “Browser app” to access your account?" }).waitFor();
  assert.match(await page.getByRole("main").innerText(), /read and change VPCs/);
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await page.waitForURL(`${application}/callback?**`);
  const back = new URL(page.url());
  assert.equal(back.searchParams.get("returnTo"), "/vpcs");
  assert.equal(back.searchParams.get("state"), first.state);
  assert.match(back.searchParams.get("code"), /^c[0-9a-f]+$/);

  // The application cannot read the session, and needs the verifier to get tokens.
  assert.equal(await page.evaluate(() => document.cookie), "");
  const fields = { grant_type: "authorization_code", client_id: CLIENT, code: back.searchParams.get("code"), state: first.state };
  const refused = await fromApplication(page, `${origin}/oauth/token`, { fields: { ...fields, code_verifier: "x".repeat(64) } });
  assert.deepEqual([refused.status, refused.body.error], [400, "invalid_grant"]);
  const tokens = await fromApplication(page, `${origin}/oauth/token`, { fields: { ...fields, code_verifier: first.verifier } });
  assert.deepEqual([tokens.status, tokens.body.scopes], [200, "account:read_only vpc:read_write"]);
  const profile = await fromApplication(page, `${origin}/v4/profile`, { token: tokens.body.access_token });
  assert.deepEqual([profile.status, profile.body.username], [200, "admin"]);

  // After a refresh, the new token works and the old token does not.
  const refresh = { grant_type: "refresh_token", client_id: CLIENT, refresh_token: tokens.body.refresh_token };
  const fresh = await fromApplication(page, `${origin}/oauth/token`, { fields: refresh });
  assert.equal(fresh.status, 200);
  const statusWith = (token) => fromApplication(page, `${origin}/v4/vpcs`, { token }).then((response) => response.status);
  assert.equal(await statusWith(fresh.body.access_token), 200);
  assert.equal(await statusWith(tokens.body.access_token), 401);

  // The redirect URI is on localhost, so consent is required again.
  const second = await logIn(page, origin, application);
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await page.waitForURL(`${application}/callback?**`);
  assert.equal(new URL(page.url()).searchParams.get("state"), second.state);

  // Revoke the token and log out.
  const revoke = { client_id: CLIENT, token: fresh.body.access_token };
  const revoked = await fromApplication(page, `${origin}/oauth/revoke`, { fields: revoke });
  assert.deepEqual([revoked.status, revoked.body], [200, {}]);
  assert.equal(await statusWith(fresh.body.access_token), 401);
  await page.evaluate((to) => location.assign(to), `${origin}/logout`);
  await page.getByRole("heading", { name: "Logged out" }).waitFor();
  await logIn(page, origin, application);
  await page.getByRole("heading", { name: "Log in" }).waitFor();
}

async function choosePassword(harness) {
  harness.garth(["user", "create", "--account", "1", "--username", "ada", "--email", "ada@example.com"]);
  const page = await harness.newPage("ada");
  const link = new URL(harness.garth(["user", "link", "ada"]).trim());
  await page.goto(harness.origin + link.pathname);
  for (const label of ["New password", "Confirm new password"]) await page.getByLabel(label, { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Set password" }).click();
  await page.getByRole("heading", { name: "Password set" }).waitFor();
}

/** With a mail server, which is not available here, the log-in page leads to the form for a forgotten password. */
async function requestNewPassword(harness) {
  await harness.stop();
  const mail = { GARTH_MAIL_SMTP_URL: "smtp://127.0.0.1:9", GARTH_MAIL_FROM: "support@example.com" };
  Object.assign(harness.env, mail, { GARTH_PUBLIC_URL: harness.origin });
  await harness.serve();
  const page = await harness.newPage("forgetful");
  await page.goto(`${harness.origin}/login`);
  await page.getByRole("link", { name: "Forgot your password?" }).click();
  await page.getByLabel("Username or e-mail address").fill("ada");
  await page.getByRole("button", { name: "Send link" }).click();
  await page.getByText("If there is such a user").waitFor();
  await page.getByRole("link", { name: "Log in" }).click();
  await page.getByRole("heading", { name: "Log in" }).waitFor();
}

const { origin: application, server } = await serveApplication();
try {
  await runTest("log-in, consent, token, refresh, revocation and a chosen password", async (harness) => {
    await harness.serve();
    harness.garth(["user", "password", "admin", "--password-stdin"], PASSWORD);
    harness.garth(["client", "create", "--label", "Browser app", "--redirect-uri", `${application}/callback`, "--public", "--id", CLIENT]);
    await authorizeApplication(harness, application);
    await choosePassword(harness);
    await requestNewPassword(harness);
  }, { hosts: [application] });
} finally {
  server.close();
}
