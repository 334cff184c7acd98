// Hosts: staff add a host, see its ports and problems, and drain it; a tenant sees the traffic of a subnet. The test
// acts as the agents.

import assert from "node:assert/strict";
import { fits, runTest } from "./harness.mjs";

const WINDOWS = [{ width: 390, height: 844 }, { width: 1440, height: 900 }];

async function fitsAll(harness, page, name) {
  for (const size of WINDOWS) {
    await page.setViewportSize(size);
    await fits(page, name);
    await harness.screenshot(page, `${name}-${size.width}`);
  }
}

/** Adds a host in the console, and lets an agent join. Returns the credential of the agent. */
async function addHost(harness, grace, number) {
  await grace.goto(`${harness.origin}/hosts`);
  await grace.getByRole("link", { name: "Add host" }).first().click();
  await grace.getByLabel("Label").fill(`rack-${number}`);
  await grace.getByLabel("Region").selectOption("us-east");
  await grace.getByLabel("Underlay address").fill("here");
  await fitsAll(harness, grace, "host-new");
  await grace.getByRole("button", { name: "Add host" }).click();
  await grace.getByRole("alert").waitFor();
  await grace.getByLabel("Underlay address").fill(`172.31.0.${number}`);
  await grace.getByRole("button", { name: "Add host" }).click();
  await grace.getByRole("heading", { name: "Host added" }).waitFor();
  await fitsAll(harness, grace, "host-added");
  const token = await grace.locator("#secret").innerText();
  const { credential } = await harness.api("", "POST", "/agent/join", { token });
  await grace.getByRole("link", { name: "Done" }).click();
  assert.equal(await grace.getByText(token).count(), 0, "the token is shown once");
  return credential;
}

const report = (harness, credential, ports, warnings = []) =>
  harness.api(credential, "POST", "/agent/status", { protocol: 1, applied_revision: 1_000_000, agent_version: "0.2.0", ports, warnings });

await runTest("hosts: add, join, ports and problems, drain, traffic for tenants", async (harness) => {
  await harness.serve();
  harness.user("ada", "--account", "1");
  harness.user("grace", "--staff");
  const token = harness.garth(["token", "create", "--user", "ada", "--label", "test"]).trim();
  const [ada, grace] = [await harness.logIn("ada"), await harness.logIn("grace")];
  await grace.goto(`${harness.origin}/hosts`);
  await grace.getByRole("heading", { name: "No hosts yet" }).waitFor();

  const first = await addHost(harness, grace, 1);
  await report(harness, first, []);
  await harness.api(token, "POST", "/vpcs", { label: "core", region: "us-east", subnets: [{ label: "web", ipv4: "10.0.0.0/24" }] });
  const interfaces = [{ purpose: "vpc", subnet_id: 1 }];
  for (const label of ["web-1", "web-2"]) {
    await harness.api(token, "POST", "/linode/instances", { label, region: "us-east", type: "g6-nanode-1", booted: true, interfaces });
  }
  await grace.goto(`${harness.origin}/hosts/1`);
  await grace.locator("#port-1", { hasText: "Starting" }).waitFor();
  const traffic = { received_bytes: 5_000_000, received_packets: 4000, sent_bytes: 700, sent_packets: 7 };
  const ports = [
    { interface_id: 1, status: "up", traffic, drops: { mac: 3 } },
    { interface_id: 2, status: "error", reason: "VXLAN is not available: RTNETLINK answers: Operation not supported" },
  ];
  await report(harness, first, ports, ["the MTU of the underlay is 1400, but 1500 is expected"]);
  // The page follows the reports without a reload.
  await grace.locator("#port-1", { hasText: "Up" }).waitFor();
  await grace.locator("#port-2", { hasText: "VXLAN is not available" }).waitFor();
  await grace.getByText("the MTU of the underlay is 1400").waitFor();
  await fitsAll(harness, grace, "host");
  await report(harness, first, [{ ...ports[0] }, { interface_id: 2, status: "up" }]);
  await ada.goto(`${harness.origin}/vpcs/1/subnets/1`);
  await ada.getByRole("heading", { name: "Traffic" }).waitFor();
  await ada.getByText("4.8 MiB").waitFor();
  await fitsAll(harness, ada, "subnet-traffic");
  await ada.goto(`${harness.origin}/instances/1`);
  await ada.getByRole("heading", { name: "Traffic" }).waitFor();
  await ada.getByText("4.8 MiB").waitFor();
  await fitsAll(harness, ada, "instance-traffic");

  const second = await addHost(harness, grace, 2);
  await report(harness, second, []);
  await grace.goto(`${harness.origin}/hosts`);
  await fitsAll(harness, grace, "hosts");
  await grace.getByRole("link", { name: "rack-1" }).click();
  await grace.locator("summary", { hasText: "Drain" }).click();
  await grace.getByRole("button", { name: "Drain rack-1" }).click();
  await grace.getByText("Draining has started.").waitFor();
  await report(harness, second, [1, 2].map((interface_id) => ({ interface_id, status: "up" })));
  await grace.getByText("All instances have moved.").waitFor();
  await fitsAll(harness, grace, "host-drained");
  await grace.getByRole("button", { name: "Undrain" }).click();
  await grace.getByText("available for instances again").waitFor();
  await grace.locator("summary", { hasText: "Remove" }).click();
  await grace.getByRole("button", { name: "Remove rack-1" }).click();
  await grace.getByText("Host removed.").waitFor();
});
