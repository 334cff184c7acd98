// Each method of a server, a tenant and a snapshot, against a real server.

import assert from 'node:assert/strict';
import { after, before, beforeEach, test } from 'node:test';

import { startGarth } from '../index.mjs';
import { clientOf } from './client.mjs';

const NOON = new Date('2024-06-01T12:00:00Z');
let garth;
let tenant;
let client;

before(async () => {
  garth = await startGarth();
});
after(() => garth.stop());
beforeEach(async () => {
  await garth.reset();
  tenant = await garth.tenant();
  client = clientOf(tenant);
});

test('tenants do not see each other', async () => {
  const other = clientOf(await garth.tenant());
  const vpc = await client.createVpc('core');
  assert.deepEqual(await client.labels(), ['core']);
  assert.deepEqual(await other.labels(), []);
  assert.equal(await other.status(`/vpcs/${vpc.id}`), 404);
});

test('a tenant has the fields that clients need', async () => {
  assert.equal(tenant.url, garth.url);
  assert.equal(tenant.apiUrl, `${garth.url}/v4`);
  assert.ok(Number.isInteger(tenant.accountId));
  const { body } = await client.send('GET', '/profile');
  assert.equal(body.username, tenant.username);
});

test('a frozen clock sets the times of objects', async () => {
  assert.deepEqual(await garth.freeze(NOON), NOON);
  assert.equal((await client.createVpc('core')).created, '2024-06-01T12:00:00');
  assert.deepEqual(await garth.advance(3600), new Date('2024-06-01T13:00:00Z'));
  assert.deepEqual(await garth.now(), new Date('2024-06-01T13:00:00Z'));
  assert.deepEqual(await garth.freeze('2024-06-01T12:00:00'), NOON);
});

test('freezing without a time stops the clock at the current one', async () => {
  const stopped = await garth.freeze();
  assert.ok(Math.abs(stopped - Date.now()) < 60_000);
  await new Promise((resolve) => setTimeout(resolve, 1100));
  assert.deepEqual(await garth.now(), stopped);
});

test('a clock runs on after unfreeze', async () => {
  await garth.freeze(NOON);
  await garth.unfreeze();
  await new Promise((resolve) => setTimeout(resolve, 1100));
  const now = await garth.now();
  assert.ok(now > NOON && now - NOON < 60_000, now.toISOString());
});

test('the next requests fail in order', async () => {
  await garth.failNext({ method: 'GET', path: '/vpcs', status: 503 });
  await garth.failNext({ operation: 'getVpcs', status: 429, times: 2 });
  for (const expected of [503, 429, 429, 200]) assert.equal(await client.status('/vpcs'), expected);
});

test('a new failure does not change the counts of others', async () => {
  await garth.failNext({ operation: 'getVpcs', status: 503, times: 2 });
  assert.equal(await client.status('/vpcs'), 503);
  await garth.failNext({ operation: 'getProfile', status: 500 });
  assert.deepEqual(
    (await garth.faults()).map(({ times }) => times),
    [1, 1],
  );
});

test('an unknown field of a failure is refused', async () => {
  await assert.rejects(garth.failNext({ pth: '/vpcs', status: 503 }), /failNext has no field pth; it has method, path/);
  assert.equal((await garth.faults()).length, 0);
});

test('calls at the same time add all rules', async () => {
  const operations = ['getVpcs', 'getProfile', 'getEvents', 'getRegions'];
  await Promise.all(operations.map((operation) => garth.failNext({ operation, status: 500 })));
  assert.equal((await garth.faults()).length, operations.length);
});

test('a failure of a tenant concerns only its account', async () => {
  const other = clientOf(await garth.tenant());
  await tenant.failNext({ path: '/vpcs', status: 500 });
  assert.equal(await other.status('/vpcs'), 200);
  assert.equal(await client.status('/vpcs'), 500);
});

test('a connection dropped after the commit has an effect', async () => {
  await garth.failNext({ method: 'POST', path: '/vpcs', drop: 'after' });
  await assert.rejects(client.createVpc('core'), { code: 'ECONNRESET' });
  assert.deepEqual(await client.labels(), ['core']);
});

test('an invalid failure is refused with its field, and later calls work', async () => {
  const message = /400 action.status: Must be 400 to 599/;
  await assert.rejects(garth.failNext({ status: 200 }), { name: 'GarthError', message });
  await garth.failNext({ status: 500, times: Infinity });
  assert.equal(await client.status('/vpcs'), 500);
  assert.equal(await client.status('/vpcs'), 500);
  await garth.clearFaults();
  assert.equal(await client.status('/vpcs'), 200);
});

test('a snapshot restores rows', async () => {
  const empty = await garth.snapshot();
  await client.createVpc('core');
  await garth.snapshot('one-vpc');
  await empty.restore();
  assert.deepEqual(await client.labels(), []);
  await garth.restore('one-vpc');
  assert.deepEqual(await client.labels(), ['core']);
  await empty.delete();
  await assert.rejects(empty.restore(), { message: /404/ });
});

test('requests are recorded', async () => {
  await client.labels();
  await garth.failNext({ status: 503 });
  await client.status('/profile');
  assert.deepEqual(await garth.requests(), [
    { method: 'GET', path: '/v4/vpcs', status: 200, operation: 'getVpcs', account_id: tenant.accountId, fault: false },
    { method: 'GET', path: '/v4/profile', status: 503, operation: 'getProfile', account_id: tenant.accountId, fault: true },
  ]);
  await garth.clearRequests();
  assert.deepEqual(await garth.requests(), []);
});

test('changed settings apply', async () => {
  await garth.changeSettings({ 'quota.vpcs_per_region': 1 });
  await client.createVpc('core');
  assert.equal((await client.send('POST', '/vpcs', { label: 'edge', region: 'us-east' })).status, 400);
  await garth.changeSettings({ 'quota.vpcs_per_region': null });
  await client.createVpc('edge');
});

test('a reset deletes tenants', async () => {
  const admin = clientOf(garth);
  await admin.createVpc('core');
  await garth.reset();
  assert.equal(await client.status('/vpcs'), 401);
  assert.deepEqual(await admin.labels(), []);
});
