// Requests to the operations under `/_test`.

import { request } from 'node:http';

const TIMEOUT_MS = 60_000;

/** The server did not start, is not reachable, or refused an operation. */
export class GarthError extends Error {
  name = 'GarthError';
}

/** Sends each request on its own connection, and never through a proxy. */
export class Connection {
  constructor(url) {
    const parsed = URL.canParse(url) ? new URL(url) : undefined;
    if (parsed?.protocol !== 'http:' || parsed.pathname !== '/') {
      throw new GarthError(`${url} is not the URL of a server; it must look like http://127.0.0.1:8080`);
    }
    this.url = parsed.origin;
  }

  async send(method, path, body) {
    const address = `${this.url}/_test${path}`;
    const { status, text } = await exchange(method, address, body).catch((error) => {
      throw new GarthError(`${method} ${address}: ${error.message || error.code}`, { cause: error });
    });
    if (status !== 200) throw new GarthError(`${method} ${address}: ${status} ${reasons(text)}`);
    return JSON.parse(text);
  }
}

function exchange(method, address, body) {
  return new Promise((resolve, reject) => {
    const content = body === undefined ? undefined : JSON.stringify(body);
    const headers = content === undefined ? {} : { 'Content-Length': Buffer.byteLength(content) };
    const sent = request(address, { method, headers, agent: false, timeout: TIMEOUT_MS }, (response) => {
      let text = '';
      response.setEncoding('utf8');
      response.on('data', (part) => (text += part));
      response.on('end', () => resolve({ status: response.statusCode, text }));
      response.on('error', reject);
    });
    sent.on('timeout', () => sent.destroy(new Error(`no response within ${TIMEOUT_MS / 1000} seconds`)));
    sent.on('error', reject);
    sent.end(content);
  });
}

/** The errors of a response as text. */
function reasons(text) {
  try {
    const { errors } = JSON.parse(text);
    return errors.map(({ field, reason }) => (field ? `${field}: ${reason}` : reason)).join('; ');
  } catch {
    return text.slice(0, 200);
  }
}
