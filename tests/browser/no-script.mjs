// The main workflows without JavaScript.

import assert from "node:assert/strict";
import { writeFileSync } from "node:fs";
import { join } from "node:path";
import { runTest } from "./harness.mjs";

const press = (page, name) => page.getByRole("button", { name, exact: true }).last().click();
const shows = (page, text) => page.getByText(text).first().waitFor();

async function networks(page, { origin }) {
  await page.goto(`${origin}/vpcs`);
  await page.getByRole("link", { name: "Create VPC" }).first().click();
  await page.getByLabel("Region").selectOption("us-east");
  await page.getByLabel("Label").first().fill("core");
  await press(page, "Add another subnet");
  await page.getByLabel("IPv4 range").nth(1).waitFor();
  assert.equal(await page.getByLabel("Label").first().inputValue(), "core", "the input is preserved");
  await press(page, "Remove subnet 2");
  await page.getByLabel("IPv4 range").fill("8.8.8.0/24");
  await press(page, "Create VPC");
  await shows(page, "There is 1 problem.");
  await page.getByLabel("IPv4 range").fill("10.0.0.0/24");
  await page.getByLabel("IPv6 range").first().selectOption("/52");
  await page.getByLabel("IPv6 range").nth(1).selectOption("/62");
  await press(page, "Create VPC");
  await shows(page, "VPC created.");
  await page.getByRole("link", { name: "Edit", exact: true }).click();
  await page.getByLabel("Description").fill("Plain.");
  await press(page, "Save");
  await shows(page, "VPC updated.");
  await page.getByRole("link", { name: "Add subnet" }).click();
  await press(page, "Add subnet");
  await shows(page, "Subnet added.");
  await page.getByRole("link", { name: "Edit" }).click();
  await page.getByLabel("Label").fill("other");
  await press(page, "Save");
  await shows(page, "Subnet updated.");
  await page.getByRole("link", { name: "Delete" }).click();
  await page.getByLabel("Type “other” to confirm").fill("other");
  await press(page, "Delete subnet");
  await shows(page, "Subnet deleted.");
  await page.goto(`${origin}/vpcs`);
  await page.getByLabel("Search").fill("nothing");
  await press(page, "Search");
  await shows(page, "No VPCs match your search.");
  await page.locator("#find").fill("10.0.0.9");
  await page.keyboard.press("Enter");
  await page.getByRole("link", { name: /10\.0\.0\.9 free/ }).click();
  await shows(page, "No addresses in use");
  await shows(page, "No IPv6 networks in use");
}

async function instances(page, { origin }) {
  await page.getByRole("link", { name: "Instances" }).click();
  await page.getByRole("link", { name: "Create instance" }).first().click();
  await page.getByLabel("Region").selectOption("us-east");
  await page.getByLabel("Plan").selectOption({ index: 1 });
  await page.getByLabel("Label").fill("web-1");
  await page.getByLabel("VPC").selectOption({ label: "core (us-east)" });
  await press(page, "Show subnets");
  await page.getByLabel("Subnet").selectOption({ index: 1 });
  assert.equal(await page.getByLabel("Label").inputValue(), "web-1", "the input is preserved");
  await page.getByLabel("Boot the instance").check();
  await press(page, "Create instance");
  await shows(page, "Instance created.");
  await page.locator("summary", { hasText: "Reboot" }).click();
  await press(page, "Reboot web-1");
  await shows(page, "Reboot started.");
  await page.goto(`${origin}/vpcs/1/subnets/1/delete`);
  await page.getByRole("link", { name: "Shut down and detach web-1" }).click();
  await press(page, "Shut down");
  await shows(page, "Shutdown started.");
  await press(page, "Detach");
  await shows(page, "Interface detached.");
  await page.getByRole("link", { name: "Instances" }).click();
  await page.getByRole("link", { name: "web-1" }).click();
  await page.getByRole("link", { name: "Attach to a subnet" }).click();
  await page.getByLabel("VPC").selectOption({ label: "core (us-east)" });
  await press(page, "Show subnets");
  await page.getByLabel("Subnet").selectOption({ index: 1 });
  await page.getByLabel("Private address").fill("10.0.0.9");
  await press(page, "Attach");
  await shows(page, "Instance attached to the subnet.");
  await shows(page, "10.0.0.9");
  await page.getByRole("link", { name: "Delete", exact: true }).click();
  await page.getByLabel("Type “web-1” to confirm").fill("web-1");
  await press(page, "Delete instance");
  await shows(page, "Instance deleted.");
}

async function tickets(page, { folder }) {
  await page.getByRole("link", { name: "Tickets" }).click();
  await page.getByRole("link", { name: "Open a ticket" }).first().click();
  await page.getByLabel("Subject").fill("No route");
  await page.getByLabel("Regarding").selectOption({ label: "core (1)" });
  await page.getByLabel("Description").fill("Since **noon**.");
  await press(page, "Preview");
  await page.locator(".preview strong").waitFor();
  await press(page, "Open ticket");
  await shows(page, "Ticket opened.");
  writeFileSync(join(folder, "bad.exe"), "MZ");
  writeFileSync(join(folder, "log.txt"), "hop");
  await page.getByLabel("Attach a file").setInputFiles(join(folder, "bad.exe"));
  await press(page, "Attach");
  await page.locator(".reason").waitFor();
  assert.equal(new URL(page.url()).search, "", "the form token is not in the URL");
  await page.getByLabel("Attach a file").setInputFiles(join(folder, "log.txt"));
  await press(page, "Attach");
  await shows(page, "File attached.");
  await page.getByLabel("Your reply").fill("Please.");
  await press(page, "Send reply");
  await shows(page, "Reply sent.");
  await page.goBack();
  await page.getByLabel("Your reply").fill("Please.");
  await press(page, "Send reply");
  await shows(page, "It was not sent again");
  assert.equal(await page.locator("#thread").getByText("Please.").count(), 1, "the reply was posted once");
}

/** A browser that goes back restores the text. Sending the text again does not post it twice. */
async function sentOnce(page, box, open) {
  await box("Reply").fill("Only once.");
  await press(page, "Send reply to customer");
  await shows(page, "Reply sent.");
  await page.goBack();
  assert.equal(await box("Reply").inputValue(), "Only once.");
  await press(page, "Send reply to customer");
  await shows(page, "It was not sent again.");
  assert.equal(await page.locator(".message", { hasText: "Only once." }).count(), 1);
  await open("Internal note");
  await box("Note").fill("Noted once.");
  await press(page, "Save internal note");
  await shows(page, "Internal note saved.");
  await page.goBack();
  await open("Internal note");
  await press(page, "Save internal note");
  await shows(page, "It was not sent again.");
  assert.equal(await page.locator(".message", { hasText: "Noted once." }).count(), 1);
}

async function desk(page, { origin }) {
  await page.getByRole("link", { name: "Canned replies" }).first().click();
  await page.getByRole("link", { name: "New canned reply" }).first().click();
  await page.getByLabel("Label").fill("Done");
  await page.getByLabel("Text").fill("Hello {{customer.username}}.");
  await press(page, "Save");
  await shows(page, "Canned reply saved.");
  await page.goto(`${origin}/desk`);
  await page.getByLabel("Assignee").selectOption("unassigned");
  await press(page, "Search");
  await page.getByRole("link", { name: "No route" }).click();
  await press(page, "Assign to me");
  await shows(page, "Ticket assigned to you.");
  // A preview or a submission preserves the text of the other boxes.
  const box = (label) => page.getByRole("textbox", { name: label, exact: true });
  const open = (label) => page.locator("summary", { hasText: label }).click();
  await open("Internal note");
  await box("Note").fill("Rack **4**.");
  await open("Reply to customer");
  await box("Reply").fill("Well.");
  await page.getByLabel("Canned reply").selectOption({ label: "Done" });
  await page.locator(".canned").getByRole("button", { name: "Preview" }).click();
  await page.locator("#canned").getByText("Hello ada.").waitFor();
  await press(page, "Insert into reply");
  assert.equal(await box("Reply").inputValue(), "Well.\n\nHello ada.");
  await page.locator("#reply").getByRole("button", { name: "Preview" }).click();
  await page.locator("#description-preview").getByText("Well.").waitFor();
  await open("Internal note");
  await page.locator("#note").getByRole("button", { name: "Preview" }).click();
  await page.locator("#note-preview strong").waitFor();
  await open("Reply to customer");
  await press(page, "Send reply to customer");
  await shows(page, "Reply sent.");
  assert.equal(await box("Note").inputValue(), "Rack **4**.");
  await press(page, "Save internal note");
  await shows(page, "Internal note saved.");
  await sentOnce(page, box, open);
  await page.getByLabel("Priority").selectOption("high");
  await press(page, "Save");
  await shows(page, "Ticket updated.");
  await page.goto(`${origin}/desk/tickets/new`);
  await page.getByLabel("Account").fill("1");
  await page.getByLabel("Subject").fill("Maintenance");
  await press(page, "Load account");
  await page.locator("#account-name", { hasText: "@" }).waitFor();
  await page.getByLabel("Regarding").selectOption({ label: "core (1)" });
  assert.equal(await page.getByLabel("Subject").inputValue(), "Maintenance");
  await page.getByLabel("Message to the customer").fill("On Tuesday.");
  await press(page, "Open ticket for customer");
  await shows(page, "The customer sees it in the console.");
  await page.goto(`${origin}/desk/keys`);
  await shows(page, "Reply to the customer");
}

async function account(page, { origin }) {
  await page.goto(`${origin}/account`);
  await page.getByLabel("Time zone").selectOption("Europe/Berlin");
  await press(page, "Save");
  await shows(page, "Profile updated.");
  await page.goto(`${origin}/account/tokens/new`);
  await page.getByLabel("Full access").check();
  await press(page, "Create token");
  await page.locator("#secret").waitFor();
  await page.goto(`${origin}/account/new-user`);
  await page.getByLabel("Username").fill("bob");
  await page.getByLabel("E-mail").fill("bob@example.com");
  await press(page, "Create user");
  await shows(page, "User created.");
  await page.getByRole("link", { name: "Edit grants" }).click();
  await page.getByLabel("Create VPCs").check();
  await press(page, "Save");
  await shows(page, "Grants updated.");
  await page.goto(`${origin}/account/clients/new`);
  await page.getByLabel("Label").fill("Dashboard");
  await page.getByLabel("Redirect URI").fill("https://dashboard.example.com/back");
  await press(page, "Create client");
  await page.locator("#secret").waitFor();
}

async function closeAndDelete(page, { origin }) {
  await page.goto(`${origin}/tickets/1`);
  await page.locator("summary", { hasText: "Close ticket" }).click();
  await press(page, "Close ticket 1");
  await shows(page, "Ticket closed.");
  await page.goto(`${origin}/events`);
  await press(page, "Mark all as seen");
  await shows(page, "All events marked as seen.");
  await page.goto(`${origin}/vpcs/1/delete`);
  await page.getByLabel("Type “core” to confirm").fill("core");
  await press(page, "Delete VPC");
  await shows(page, "VPC deleted.");
}

await runTest("without JavaScript: VPCs, instances, tickets, the desk and the account", async (harness) => {
  await harness.serve();
  harness.user("ada", "--account", "1");
  harness.user("grace", "--staff");
  const plain = { javaScriptEnabled: false };
  const [ada, grace] = [await harness.logIn("ada", plain), await harness.logIn("grace", plain)];
  await networks(ada, harness);
  await instances(ada, harness);
  await tickets(ada, harness);
  await desk(grace, harness);
  await account(ada, harness);
  await closeAndDelete(ada, harness);
});
