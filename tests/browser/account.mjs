// The account pages: profile, password, tokens, users and grants, OAuth clients, quotas. A restricted user sees exactly
// the granted resources.

import assert from "node:assert/strict";
import { PASSWORD, runTest } from "./harness.mjs";

const ANOTHER = "another horse, another battery";

async function profile(page, { origin }) {
  await page.getByRole("link", { name: "Account" }).click();
  await page.getByLabel("E-mail", { exact: true }).fill("nowhere");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByRole("alert").getByText("There is 1 problem.").waitFor();
  await page.getByLabel("E-mail", { exact: true }).fill("ada@home.example");
  await page.getByLabel("Time zone").selectOption("Europe/Berlin");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Profile updated.").waitFor();
  assert.equal(await page.getByLabel("Time zone").inputValue(), "Europe/Berlin");
  const change = async (now, next) => {
    await page.goto(`${origin}/account`);
    await page.getByLabel("Current password").fill(now);
    for (const label of ["New password", "Confirm new password"]) await page.getByLabel(label, { exact: true }).fill(next);
    await page.getByRole("button", { name: "Change password" }).click();
  };
  await change("wrong", ANOTHER);
  await page.getByRole("alert").getByText("The current password is incorrect").waitFor();
  await change(PASSWORD, ANOTHER);
  await page.getByText("Password changed.").waitFor();
}

async function tokens(page, harness) {
  await page.getByRole("link", { name: "Tokens" }).click();
  await page.getByRole("heading", { name: "No tokens yet" }).waitFor();
  await page.getByRole("link", { name: "Create token" }).first().click();
  await page.getByLabel("Label").fill("terraform");
  await page.getByRole("row", { name: /VPCs and subnets/ }).getByLabel("Read/write").check();
  await page.getByRole("button", { name: "Create token" }).click();
  const token = await page.locator("#secret").innerText();
  assert.deepEqual((await harness.api(token, "GET", "/vpcs")).data.map((vpc) => vpc.label), ["core"]);
  // Only this page shows the token, and reloading it creates no second token.
  await page.reload();
  await page.getByRole("heading", { name: "This token was already created" }).waitFor();
  assert.ok(!(await page.content()).includes(token), "a token is shown once");
  await page.getByRole("main").getByRole("link", { name: "Tokens" }).last().click();
  assert.equal(await page.getByRole("row", { name: /terraform/ }).count(), 1);
  await page.getByRole("row", { name: /terraform/ }).waitFor();
  assert.ok(!(await page.content()).includes(token), "a token is shown once");
  await page.getByRole("link", { name: "Revoke terraform" }).click();
  await page.getByRole("button", { name: "Revoke token" }).click();
  await page.getByText("It no longer gives access.").waitFor();
  const response = await fetch(`${harness.origin}/v4/vpcs`, { headers: { authorization: `Bearer ${token}` } });
  assert.equal(response.status, 401);
}

async function users(page, harness) {
  await page.getByRole("link", { name: "Users" }).click();
  await page.getByRole("link", { name: "Create user" }).click();
  await page.getByLabel("Username").fill("b");
  await page.getByLabel("E-mail").fill("bob@example.com");
  await page.getByRole("button", { name: "Create user" }).click();
  await page.getByRole("alert").getByText("There is 1 problem.").waitFor();
  await page.getByLabel("Username").fill("bob");
  await page.getByRole("button", { name: "Create user" }).click();
  await page.getByText("User created.").waitFor();
  await page.getByRole("button", { name: "Generate link" }).click();
  const link = await page.locator("#secret").innerText();
  await page.getByRole("link", { name: "Done" }).click();
  await page.getByRole("link", { name: "Edit grants" }).click();
  await page.getByRole("row", { name: /core/ }).getByLabel("Read-only", { exact: true }).check();
  await page.getByLabel("Create VPCs").check();
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("Grants updated.").waitFor();
  assert.ok(await page.getByRole("row", { name: /core/ }).getByLabel("Read-only", { exact: true }).isChecked(), "one button saves both parts");
  assert.ok(await page.getByLabel("Create VPCs").isChecked(), "one button saves both parts");
  // One level for all results of a filter, after a confirmation.
  await page.getByLabel("Search", { exact: true }).fill("core");
  await page.getByText("1 object", { exact: true }).waitFor();
  await page.getByLabel("Set access to").selectOption("Read/write");
  await page.getByRole("button", { name: "Apply to all 1 results" }).click();
  await page.getByRole("button", { name: "Set 1 grant" }).click();
  await page.getByText("Grants updated.").waitFor();
  // One level for the selected rows.
  await page.getByLabel("Select core").check();
  await page.getByLabel("Set access to").selectOption("Read-only");
  await page.getByRole("button", { name: "Apply to selected" }).click();
  await page.getByRole("button", { name: "Set 1 grant" }).click();
  await page.getByText("Grants updated.").waitFor();
  const core = page.getByRole("row", { name: /core/ });
  assert.ok(await core.getByLabel("Read-only", { exact: true }).isChecked());
  // A filter asks before it discards a change. A choice that is changed back is no change: a dialog would be an alarm.
  await core.getByLabel("No access", { exact: true }).check();
  await harness.whileOffline(async () => {
    const dialog = page.waitForEvent("dialog");
    await page.getByLabel("Search", { exact: true }).fill("cor");
    await dialog;
  });
  await core.getByLabel("Read-only", { exact: true }).check();
  const filtered = page.waitForResponse((response) => response.url().includes("q=core"));
  await page.getByLabel("Search", { exact: true }).fill("core");
  await filtered;
  await page.getByRole("navigation", { name: "Breadcrumbs" }).getByRole("link", { name: "bob" }).click();

  // The new user sets a password with the link, and sees only the granted resources.
  const bob = await harness.newPage("bob");
  await bob.goto(link.replace(/^http:\/\/[^/]+/, harness.origin));
  for (const label of ["New password", "Confirm new password"]) await bob.getByLabel(label, { exact: true }).fill(PASSWORD);
  await bob.getByRole("button", { name: "Set password" }).click();
  await bob.getByRole("heading", { name: "Password set" }).waitFor();
  await bob.goto(`${harness.origin}/vpcs`);
  await bob.getByLabel("Username").fill("bob");
  await bob.getByLabel("Password").fill(PASSWORD);
  await bob.getByRole("button", { name: "Log in" }).click();
  await bob.getByRole("link", { name: "core" }).click();
  await bob.getByRole("heading", { name: "core" }).waitFor();
  assert.equal(await bob.getByRole("link", { name: /Edit|Delete|Add subnet/ }).count(), 0, "actions without permission are not offered");
  await bob.goto(`${harness.origin}/vpcs/1/edit`);
  await bob.getByRole("link", { name: "Back to home" }).waitFor();
  await bob.goto(`${harness.origin}/account`);
  assert.equal(await bob.getByRole("link", { name: "Users" }).count(), 0);

  await page.getByRole("link", { name: "Delete" }).click();
  await page.getByLabel("Type “bob” to confirm").fill("bob");
  await page.getByRole("button", { name: "Delete user" }).click();
  await page.getByText("User deleted.").waitFor();
  await bob.goto(`${harness.origin}/vpcs`);
  await bob.getByRole("heading", { name: "Log in" }).waitFor();
}

async function clients(page) {
  await page.getByRole("link", { name: "OAuth clients" }).click();
  await page.getByRole("heading", { name: "No OAuth clients yet" }).waitFor();
  await page.getByRole("link", { name: "Create client" }).first().click();
  await page.getByLabel("Label").fill("Dashboard");
  await page.getByLabel("Redirect URI").fill("https://dashboard.example.com/back");
  await page.getByRole("button", { name: "Create client" }).click();
  const secret = await page.locator("#secret").innerText();
  assert.ok(secret.length >= 32);
  await page.getByRole("link", { name: "Done" }).click();
  await page.getByRole("link", { name: "Edit Dashboard" }).click();
  await page.getByLabel("Label").fill("Board");
  await page.getByRole("button", { name: "Save" }).click();
  await page.getByText("OAuth client updated.").waitFor();
  await page.getByRole("link", { name: "Reset secret for Board" }).click();
  await page.getByRole("button", { name: "Reset secret" }).click();
  assert.notEqual(await page.locator("#secret").innerText(), secret);
  await page.getByRole("link", { name: "Done" }).click();
  await page.getByRole("link", { name: "Delete Board" }).click();
  await page.getByLabel("Type “Board” to confirm").fill("Board");
  await page.getByRole("button", { name: "Delete client" }).click();
  await page.getByText("OAuth client deleted.").waitFor();
}

async function quotas(page) {
  await page.getByRole("link", { name: "Applications" }).click();
  await page.getByRole("heading", { name: "No applications" }).waitFor();
  await page.getByRole("link", { name: "Quotas" }).click();
  await page.getByRole("row", { name: /us-east/ }).getByText(/^1 of/).waitFor();
  await page.getByRole("row", { name: /core/ }).getByText(/^0 of/).waitFor();
}

await runTest("the account: profile, password, tokens, users and grants, clients, quotas", async (harness) => {
  await harness.serve();
  harness.user("ada", "--account", "1");
  const token = harness.garth(["token", "create", "--user", "admin", "--label", "test"]).trim();
  await harness.api(token, "POST", "/vpcs", { label: "core", region: "us-east" });
  const page = await harness.logIn("ada");
  await profile(page, harness);
  await tokens(page, harness);
  await users(page, harness);
  await clients(page);
  await quotas(page);
});
