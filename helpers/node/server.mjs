// A server with test control, and its tenants and snapshots.

import { randomUUID } from 'node:crypto';

import { Connection, GarthError } from './connection.mjs';

const FAULT_FIELDS = [
  'method',
  'path',
  'operation',
  'account',
  'times',
  'probability',
  'status',
  'drop',
  'delayMs',
  'truncate',
];

export class Server {
  #connection;
  #stop;

  constructor(connection, token, stop = async () => {}) {
    this.#connection = connection;
    this.#stop = stop;
    this.url = connection.url;
    this.apiUrl = `${this.url}/v4`;
    this.token = token;
  }

  async stop() {
    await this.#stop();
  }

  async [Symbol.asyncDispose]() {
    await this.#stop();
  }

  async tenant() {
    const created = await this.#connection.send('POST', '/accounts');
    return new Tenant(this, created);
  }

  async reset() {
    await this.#connection.send('POST', '/reset');
  }

  async snapshot(name = `snapshot-${randomUUID()}`) {
    await this.#connection.send('POST', '/snapshots', { name });
    return {
      name,
      restore: () => this.restore(name),
      delete: async () => {
        await this.#connection.send('DELETE', `/snapshots/${encodeURIComponent(name)}`);
      },
    };
  }

  async restore(name) {
    await this.#connection.send('POST', `/snapshots/${encodeURIComponent(name)}/restore`);
  }

  async now() {
    return time(await this.#connection.send('GET', '/clock'));
  }

  async freeze(now) {
    const change = { frozen: true };
    if (now !== undefined) change.now = now instanceof Date ? now.toISOString().slice(0, 19) : now;
    return time(await this.#connection.send('PUT', '/clock', change));
  }

  async unfreeze() {
    await this.#connection.send('PUT', '/clock', { frozen: false });
  }

  async advance(seconds) {
    return time(await this.#connection.send('POST', '/clock/advance', { seconds }));
  }

  async failNext(fault) {
    const { method, path, operation, account, times = 1, probability, status, drop, delayMs, truncate } = fault;
    const unknown = Object.keys(fault).find((name) => !FAULT_FIELDS.includes(name));
    if (unknown) throw new GarthError(`failNext has no field ${unknown}; it has ${FAULT_FIELDS.join(', ')}`);
    await this.#connection.send('POST', '/faults', {
      match: { method, path, operation, account },
      times: times === Infinity ? undefined : times,
      probability,
      action: { status, drop, delay_ms: delayMs, truncate },
    });
  }

  async faults() {
    return (await this.#connection.send('GET', '/faults')).data;
  }

  async clearFaults() {
    await this.#connection.send('DELETE', '/faults');
  }

  async requests() {
    return (await this.#connection.send('GET', '/requests')).data;
  }

  async clearRequests() {
    await this.#connection.send('DELETE', '/requests');
  }

  async changeSettings(settings) {
    await this.#connection.send('PUT', '/settings', settings);
  }
}

class Tenant {
  #server;

  constructor(server, created) {
    this.#server = server;
    this.url = server.url;
    this.apiUrl = server.apiUrl;
    this.accountId = created.account_id;
    this.username = created.username;
    this.token = created.token;
  }

  async failNext(fault) {
    await this.#server.failNext({ ...fault, account: this.accountId });
  }
}

/** Uses a server that already runs with `--test-control`. */
export async function connectGarth(url, { token, stop } = {}) {
  const connection = new Connection(url);
  await connection.send('GET', '/clock').catch((error) => {
    const message = `${url} is not a server with test control (garth serve --test-control): ${error.message}`;
    throw new GarthError(message, { cause: error });
  });
  return new Server(connection, token, stop);
}

function time({ now }) {
  return new Date(`${now}Z`);
}
