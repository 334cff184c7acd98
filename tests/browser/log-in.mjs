// Log-in and consent in a browser: a public client gets a token with PKCE, uses, refreshes and revokes it, from a page of
// another origin. A user sets a password with a link.

import assert from "node:assert/strict";
import { createHash, randomBytes } from "node:crypto";
import { createServer } from "node:http";
import { PASSWORD, play } from "./harness.mjs";

const CLIENT = "0123456789abcdef0123";

/** The application: an empty page of another origin. */
async function serveProgram() {
  const server = createServer((_, answer) => {
    answer.setHeader("content-type", "text/html");
    answer.end("<!doctype html><title>Program</title><p>Back at the program.");
  });
  await new Promise((ready) => server.listen(0, "127.0.0.1", ready));
  return { origin: `http://127.0.0.1:${server.address().port}`, server };
}

/** Calls the server from the application's page. */
function fromProgram(page, url, { fields, token } = {}) {
  return page.evaluate(
    async ([url, fields, token]) => {
      const form = fields && new FormData();
      for (const [name, value] of Object.entries(fields ?? {})) form.append(name, value);
      const headers = token ? { authorization: `Bearer ${token}` } : {};
      const answer = await fetch(url, { method: form ? "POST" : "GET", body: form, headers });
      return { status: answer.status, body: await answer.json() };
    },
    [url, fields ?? null, token ?? null],
  );
}

async function logIn(page, origin, program) {
  const redirect = `${program}/callback?returnTo=/vpcs`;
  const verifier = randomBytes(64).toString("base64url");
  const state = randomBytes(16).toString("hex");
  const ask = new URLSearchParams({
    client_id: CLIENT,
    response_type: "code",
    scope: "account:read_only vpc:read_write",
    redirect_uri: redirect,
    state,
    code_challenge: createHash("sha256").update(verifier).digest("base64url"),
    code_challenge_method: "S256",
  });
  await page.goto(`${origin}/oauth/authorize?${ask}`);
  return { redirect, verifier, state };
}

async function drive(stage, program) {
  const { origin } = stage;
  const page = await stage.browse("admin");

  // From the application to the log-in page; the first password is wrong. Keyboard only.
  await page.goto(program);
  const first = await logIn(page, origin, program);
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
  await page.waitForURL(`${program}/callback?**`);
  const back = new URL(page.url());
  assert.equal(back.searchParams.get("returnTo"), "/vpcs");
  assert.equal(back.searchParams.get("state"), first.state);
  assert.match(back.searchParams.get("code"), /^c[0-9a-f]+$/);

  // The application cannot read the session, and needs the verifier to get tokens.
  assert.equal(await page.evaluate(() => document.cookie), "");
  const fields = { grant_type: "authorization_code", client_id: CLIENT, code: back.searchParams.get("code"), state: first.state };
  const wrong = await fromProgram(page, `${origin}/oauth/token`, { fields: { ...fields, code_verifier: "x".repeat(64) } });
  assert.deepEqual([wrong.status, wrong.body.error], [400, "invalid_grant"]);
  const given = await fromProgram(page, `${origin}/oauth/token`, { fields: { ...fields, code_verifier: first.verifier } });
  assert.deepEqual([given.status, given.body.scopes], [200, "account:read_only vpc:read_write"]);
  const profile = await fromProgram(page, `${origin}/v4/profile`, { token: given.body.access_token });
  assert.deepEqual([profile.status, profile.body.username], [200, "admin"]);

  // After a refresh, the new token works and the old one does not.
  const refresh = { grant_type: "refresh_token", client_id: CLIENT, refresh_token: given.body.refresh_token };
  const fresh = await fromProgram(page, `${origin}/oauth/token`, { fields: refresh });
  assert.equal(fresh.status, 200);
  const with_ = (token) => fromProgram(page, `${origin}/v4/vpcs`, { token }).then((answer) => answer.status);
  assert.equal(await with_(fresh.body.access_token), 200);
  assert.equal(await with_(given.body.access_token), 401);

  // The redirect URI is on localhost, so consent is required again.
  const second = await logIn(page, origin, program);
  await page.getByRole("button", { name: "Allow", exact: true }).click();
  await page.waitForURL(`${program}/callback?**`);
  assert.equal(new URL(page.url()).searchParams.get("state"), second.state);

  // Revoke the token and log out.
  const revoke = { client_id: CLIENT, token: fresh.body.access_token };
  const revoked = await fromProgram(page, `${origin}/oauth/revoke`, { fields: revoke });
  assert.deepEqual([revoked.status, revoked.body], [200, {}]);
  assert.equal(await with_(fresh.body.access_token), 401);
  await page.evaluate((to) => location.assign(to), `${origin}/logout`);
  await page.getByRole("heading", { name: "Logged out" }).waitFor();
  await logIn(page, origin, program);
  await page.getByRole("heading", { name: "Log in" }).waitFor();
}

async function choosePassword(stage) {
  stage.garth(["user", "create", "--account", "1", "--username", "ada", "--email", "ada@example.com"]);
  const page = await stage.browse("ada");
  const link = new URL(stage.garth(["user", "link", "ada"]).trim());
  await page.goto(stage.origin + link.pathname);
  for (const label of ["New password", "Confirm new password"]) await page.getByLabel(label, { exact: true }).fill(PASSWORD);
  await page.getByRole("button", { name: "Set password" }).click();
  await page.getByRole("heading", { name: "Password set" }).waitFor();
}

const { origin: program, server } = await serveProgram();
try {
  await play("log-in, consent, token, refresh, revocation and a chosen password", async (stage) => {
    await stage.serve();
    stage.garth(["user", "password", "admin", "--password-stdin"], PASSWORD);
    stage.garth(["client", "create", "--label", "Browser app", "--redirect-uri", `${program}/callback`, "--public", "--id", CLIENT]);
    await drive(stage, program);
    await choosePassword(stage);
  }, { hosts: [program] });
} finally {
  server.close();
}
