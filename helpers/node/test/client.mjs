// A client on Node's `http`, which does not repeat failed requests.

import assert from 'node:assert/strict';
import { request } from 'node:http';

export function clientOf({ apiUrl, token }) {
  const send = (method, path, body) =>
    new Promise((resolve, reject) => {
      const headers = { Authorization: `Bearer ${token}`, 'Content-Type': 'application/json' };
      const sent = request(`${apiUrl}${path}`, { method, headers, agent: false }, (response) => {
        let text = '';
        response.on('data', (part) => (text += part));
        response.on('end', () => resolve({ status: response.statusCode, body: JSON.parse(text) }));
        response.on('error', reject);
      });
      sent.on('error', reject);
      sent.end(body === undefined ? undefined : JSON.stringify(body));
    });
  return {
    send,
    status: async (path) => (await send('GET', path)).status,
    async createVpc(label) {
      const { status, body } = await send('POST', '/vpcs', { label, region: 'us-east' });
      assert.equal(status, 200, JSON.stringify(body));
      return body;
    },
    async labels() {
      const { status, body } = await send('GET', '/vpcs');
      assert.equal(status, 200, JSON.stringify(body));
      return body.data.map((vpc) => vpc.label);
    },
  };
}
