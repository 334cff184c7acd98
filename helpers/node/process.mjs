// Starts a server on a free port, with a temporary store.

import { spawn } from 'node:child_process';
import { randomBytes } from 'node:crypto';
import { accessSync, closeSync, constants, mkdtempSync, openSync, readFileSync, statSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { delimiter, join, resolve } from 'node:path';

import { GarthError } from './connection.mjs';
import { connectGarth } from './server.mjs';

const OLDEST_VERSION = '0.2.0';
const START_TIMEOUT_MS = 60_000;
// Runs the server until standard input ends: when the server is stopped, or when the process of the tests ends for any
// reason, even a SIGKILL. The store is temporary, so the server does not have to shut down in an orderly way.
const SUPERVISOR = `
trap '' INT HUP
folder=$1
shift
"$@" </dev/null &
server=$!
exec >/dev/null 2>&1
read -r _
kill -KILL $server
wait $server
rm -rf -- "$folder"
`;

/** Starts `garth serve --test-control`. */
export async function startGarth({ binary, arguments: added = [] } = {}) {
  const program = findBinary(binary);
  const folder = mkdtempSync(join(tmpdir(), 'garth-test-'));
  const logPath = join(folder, 'log');
  const token = randomBytes(32).toString('hex');
  const serve = ['serve', '--test-control', '--listen', '127.0.0.1:0', '--log', 'warn', '--data', join(folder, 'data')];
  const log = openSync(logPath, 'w');
  const command = ['-c', SUPERVISOR, 'garth-supervisor', folder, program, ...serve, ...added];
  const env = { ...environment(), GARTH_BOOTSTRAP_TOKEN: token };
  const child = spawn('/bin/sh', command, { stdio: ['pipe', 'pipe', log], env });
  closeSync(log);
  const ended = new Promise((done) => child.once('exit', done));
  const stop = async () => {
    child.ref();
    child.stdin.end();
    await ended;
  };
  try {
    const url = await readAddress(child.stdout, program, logPath);
    const server = await connectGarth(url, { token, stop });
    // A server that is not stopped does not keep the process of the tests running.
    for (const handle of [child, child.stdin, child.stdout]) handle.unref();
    return server;
  } catch (error) {
    await stop();
    throw error;
  }
}

/** The environment of this process without the settings of Garth. */
function environment() {
  return Object.fromEntries(Object.entries(process.env).filter(([name]) => !name.startsWith('GARTH_')));
}

/** The path of the binary. The error names the places that were searched. */
function findBinary(binary) {
  const chosen = binary ?? process.env.GARTH_BINARY;
  if (chosen) {
    const path = chosen.includes('/') ? resolve(chosen) : onPath(chosen);
    if (path && isProgram(path)) return path;
    throw new GarthError(`there is no program ${chosen}; set GARTH_BINARY to the path of garth`);
  }
  const found = onPath('garth');
  if (!found) throw new GarthError('garth is not on the PATH; install it, or set GARTH_BINARY to its path');
  return found;
}

function onPath(name) {
  const folders = (process.env.PATH ?? '').split(delimiter).filter(Boolean);
  return folders.map((folder) => resolve(folder, name)).find(isProgram);
}

function isProgram(path) {
  try {
    accessSync(path, constants.X_OK);
    return statSync(path).isFile();
  } catch {
    return false;
  }
}

/** The URL in the first line that the server prints. */
async function readAddress(output, program, logPath) {
  const line = await firstLine(output);
  if (line === undefined) {
    const seconds = START_TIMEOUT_MS / 1000;
    throw new GarthError(`${program} did not start within ${seconds} seconds: ${endOf(logPath)}`);
  }
  if (line === '') throw new GarthError(failure(program, endOf(logPath)));
  const url = line.match(/http:\/\/[^ ]+/)?.[0];
  if (url) return url;
  throw new GarthError(`${program} is not Garth ${OLDEST_VERSION} or later; it printed ${JSON.stringify(line)}`);
}

/** The first line of a stream, "" if the stream ends before it, or undefined after a timeout. */
function firstLine(output) {
  return new Promise((done) => {
    let text = '';
    const timeout = setTimeout(() => done(undefined), START_TIMEOUT_MS);
    const finish = (line) => {
      clearTimeout(timeout);
      done(line);
    };
    output.setEncoding('utf8');
    // The listener remains, so that the server can print more lines.
    output.on('data', (part) => {
      text += part;
      if (text.includes('\n')) finish(text.split('\n')[0]);
    });
    output.on('end', () => finish(text));
  });
}

/** The reason why a server ended before it was ready. */
function failure(program, text) {
  if (text.includes("unexpected argument '--test-control'")) {
    return `${program} has no option --test-control; install Garth ${OLDEST_VERSION} or later`;
  }
  return `${program} did not start: ${text || 'it printed nothing'}`;
}

function endOf(logPath) {
  return readFileSync(logPath, 'utf8').slice(-2000).trim();
}
