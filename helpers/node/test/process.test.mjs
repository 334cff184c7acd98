// How a server starts, fails to start, and ends.

import assert from 'node:assert/strict';
import { spawn } from 'node:child_process';
import { mkdtempSync, readdirSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { after, test } from 'node:test';
import { setTimeout as sleep } from 'node:timers/promises';

import { connectGarth, startGarth } from '../index.mjs';
import { clientOf } from './client.mjs';

const scratch = mkdtempSync(join(tmpdir(), 'garth-node-'));
after(() => rmSync(scratch, { recursive: true }));

function fakeBinary(name, script) {
  const path = join(scratch, name);
  writeFileSync(path, `#!/bin/sh\n${script}\n`, { mode: 0o755 });
  return path;
}

/** Runs a function with other environment variables. */
async function withVariables(variables, run) {
  const saved = Object.keys(variables).map((name) => [name, process.env[name]]);
  Object.assign(process.env, variables);
  try {
    return await run();
  } finally {
    for (const [name, value] of saved) {
      if (value === undefined) delete process.env[name];
      else process.env[name] = value;
    }
  }
}

const temporaryStores = () => readdirSync(scratch).filter((name) => name.startsWith('garth-test-'));
const isRunning = (url) => connectGarth(url).then(() => true, () => false);

for (const [name, options, message] of [
  ['a missing binary', { binary: '/nonexistent/garth' }, /^there is no program \/nonexistent\/garth; set GARTH_BINARY/],
  ['a folder', { binary: '/' }, /^there is no program \/; /],
  [
    'an old binary',
    { binary: fakeBinary('old', `echo "error: unexpected argument '--test-control' found" >&2; exit 2`) },
    /old has no option --test-control; install Garth 0.2.0 or later$/,
  ],
  ['another program', { binary: fakeBinary('other', 'echo hello') }, /is not Garth 0.2.0 or later; it printed "hello"$/],
  ['a silent program', { binary: fakeBinary('silent', 'exit 1') }, /did not start: it printed nothing$/],
  ['an unknown argument', { arguments: ['--bogus'] }, /unexpected argument '--bogus' found/],
  ['an invalid argument', { arguments: ['--chaos=unknown'] }, /did not start: garth: chaos: must be light, heavy or a seed/],
]) {
  test(`${name} is reported`, async () => {
    await withVariables({ TMPDIR: scratch }, () => assert.rejects(startGarth(options), { name: 'GarthError', message }));
    assert.deepEqual(temporaryStores(), []);
  });
}

test('a binary that is not on the PATH is reported', () =>
  withVariables({ GARTH_BINARY: '', PATH: '/nonexistent' }, () =>
    assert.rejects(startGarth(), { message: 'garth is not on the PATH; install it, or set GARTH_BINARY to its path' }),
  ));

test('settings of the environment do not affect the server', () =>
  withVariables({ GARTH_CHAOS: 'unknown' }, async () => {
    const garth = await startGarth();
    await garth.stop();
  }));

test('a stopped server does not run, and its store is deleted', async () => {
  await withVariables({ TMPDIR: scratch }, async () => {
    const garth = await startGarth();
    assert.equal(temporaryStores().length, 1);
    await garth[Symbol.asyncDispose]();
    assert.equal(await isRunning(garth.url), false);
    await garth.stop();
  });
  assert.deepEqual(temporaryStores(), []);
});

test('a running server can be used', async () => {
  const garth = await startGarth();
  const connected = await connectGarth(garth.url);
  await clientOf(await connected.tenant()).createVpc('core');
  await connected.stop();
  assert.equal(await isRunning(garth.url), true);
  await garth.stop();
});

test('a URL without test control is reported', async () => {
  const message = /^http:\/\/127.0.0.1:9 is not a server with test control/;
  await assert.rejects(connectGarth('http://127.0.0.1:9'), { message });
  await assert.rejects(connectGarth('127.0.0.1:9'), { message: /^127.0.0.1:9 is not the URL of a server/ });
});

/** Starts a server in another process, which then runs `rest`. Returns the URL of the server and the process. */
async function startElsewhere(rest) {
  const program = `
    import { startGarth } from ${JSON.stringify(new URL('../index.mjs', import.meta.url).href)};
    console.log((await startGarth()).url);
    ${rest}`;
  const env = { ...process.env, TMPDIR: scratch };
  const child = spawn(process.execPath, ['--input-type=module', '--eval', program], { env, stdio: ['ignore', 'pipe', 'inherit'] });
  const ended = new Promise((resolve) => child.once('exit', (code, signal) => resolve(signal ?? code)));
  const url = await new Promise((resolve) => child.stdout.once('data', (text) => resolve(String(text).trim())));
  return { url, child, ended };
}

async function assertEnds(url) {
  const deadline = Date.now() + 10_000;
  while (Date.now() < deadline && ((await isRunning(url)) || temporaryStores().length > 0)) await sleep(20);
  assert.equal(await isRunning(url), false);
  assert.deepEqual(temporaryStores(), []);
}

test('a server ends with a process that is killed', async () => {
  const { url, child, ended } = await startElsewhere('setTimeout(() => {}, 60_000);');
  assert.equal(await isRunning(url), true);
  child.kill('SIGKILL');
  assert.equal(await ended, 'SIGKILL');
  await assertEnds(url);
});

test('a server that is not stopped does not keep the process running', { timeout: 30_000 }, async () => {
  const { url, ended } = await startElsewhere('');
  assert.equal(await ended, 0);
  await assertEnds(url);
});
