// @linode/api-v4, unchanged, against a running server:
//
//     node javascript.mjs FOLDER ROOT TOKEN STAFF_TOKEN NAME
//
// FOLDER has the packages, ROOT is the server's address, NAME one of the tests below.

import assert from 'node:assert/strict';
import { createHash } from 'node:crypto';
import { createRequire } from 'node:module';
import { resolve } from 'node:path';

import identity from './javascript_identity.mjs';
import otherProducts from './javascript_other_products.mjs';
import addresses from './javascript_addresses.mjs';

const [folder, root, token, staffToken, name] = process.argv.slice(2);
const linode = createRequire(resolve(folder, 'package.json'))('@linode/api-v4');

// The client has the address of the public service built in. The web app redirects it in the same way.
let tokenInterceptor;
function useToken(token) {
  if (tokenInterceptor !== undefined) linode.baseRequest.interceptors.request.eject(tokenInterceptor);
  tokenInterceptor = linode.setToken(token);
}
useToken(token);
let lastFilter;
linode.baseRequest.interceptors.request.use((config) => {
  lastFilter = config.headers['X-Filter'];
  return { ...config, url: config.url.replace('https://api.linode.com', root) };
});

const openTickets = {
  '+order': 'desc',
  '+order_by': 'opened',
  '+or': [{ status: 'open' }, { status: 'new' }],
};
const closedTickets = { '+order': 'desc', '+order_by': 'opened', status: 'closed' };
// The ID of requests that the test sends itself, and not the client.
const testHeaders = { 'X-Request-Id': 'sent-by-test' };
const page25 = { page: 1, page_size: 25 };
const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(3 * 1024 * 1024, 7)]);

// Calls the desk as staff. No client supports these operations.
async function desk(method, path, body) {
  const response = await fetch(`${root}/v4/desk${path}`, {
    method,
    headers: { Authorization: `Bearer ${staffToken}`, 'Content-Type': 'application/json', ...testHeaders },
    body: body && JSON.stringify(body),
  });
  const result = await response.json();
  assert.equal(response.status, 200, `${method} ${path}: ${JSON.stringify(result)}`);
  return result;
}

// Asserts an error response; returns its reason.
async function refused(promise, status, field) {
  const error = await promise.then(
    () => assert.fail('the request succeeded'),
    (error) => error
  );
  assert.ok(error.response, `the client did not send the request: ${JSON.stringify(error)}`);
  assert.equal(error.response.status, status, JSON.stringify(error.response.data));
  const [first] = error.response.data.errors;
  assert.equal(first.field, field, JSON.stringify(error.response.data));
  return first.reason;
}

const ids = (page) => page.data.map((item) => item.id);
const times = /^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d$/;

const tests = {
  async VPCs() {
    const vpc = await linode.createVPC({
      label: 'vpc-one',
      description: '',
      region: 'us-east',
      subnets: [{ label: 'subnet-a', ipv4: '10.0.0.0/24' }],
    });
    assert.equal(vpc.label, 'vpc-one');
    assert.equal(vpc.description, '');
    assert.match(vpc.created, times);
    assert.deepEqual(
      vpc.subnets.map((s) => [s.label, s.ipv4, s.linodes, s.nodebalancers]),
      [['subnet-a', '10.0.0.0/24', [], []]]
    );
    const renamed = await linode.updateVPC(vpc.id, { label: 'vpc-two', description: 'ours' });
    assert.deepEqual([renamed.label, renamed.description], ['vpc-two', 'ours']);
    const subnet = await linode.createSubnet(vpc.id, { label: 'subnet-b', ipv4: '10.0.1.0/24' });
    await linode.modifySubnet(vpc.id, subnet.id, { label: 'subnet-c' });
    assert.equal((await linode.getSubnet(vpc.id, subnet.id)).label, 'subnet-c');

    const search = {
      '+or': [{ label: { '+contains': 'SUBNET-C' } }, { id: { '+contains': 'SUBNET-C' } }],
      '+order': 'asc',
      '+order_by': 'label',
    };
    assert.deepEqual(ids(await linode.getSubnets(vpc.id, page25, search)), [subnet.id]);
    const other = await linode.createVPC({ label: 'a-vpc', description: '', region: 'us-mia', subnets: [] });
    const down = await linode.getVPCs(page25, { '+order': 'desc', '+order_by': 'label' });
    assert.deepEqual(ids(down), [vpc.id, other.id]);
    assert.deepEqual([down.page, down.pages, down.results], [1, 1, 2]);

    assert.match(
      await refused(linode.createVPC({ label: 'vpc-two', region: 'us-east', subnets: [] }), 400, 'label'),
      /unique/
    );
    await refused(linode.createSubnet(vpc.id, { label: 'x', ipv4: '10.0.0.128/25' }), 400, 'ipv4');
    await refused(linode.getVPC(999), 404, undefined);

    await linode.deleteSubnet(vpc.id, subnet.id);
    assert.deepEqual((await linode.getVPC(vpc.id)).subnets.map((s) => s.label), ['subnet-a']);
    assert.deepEqual(await linode.deleteVPC(vpc.id), {});
    const events = await linode.getEvents({}, { action: { '+neq': 'profile_update' }, '+order': 'desc', '+order_by': 'id' });
    assert.deepEqual(
      events.data.map((event) => [event.action, event.entity.label, event.secondary_entity?.label ?? null]),
      [
        ['vpc_delete', 'vpc-two', null],
        ['subnet_delete', 'subnet-a', 'vpc-two'],
        ['subnet_delete', 'subnet-c', 'vpc-two'],
        ['vpc_create', 'a-vpc', null],
        ['subnet_update', 'subnet-c', 'vpc-two'],
        ['subnet_create', 'subnet-b', 'vpc-two'],
        ['vpc_update', 'vpc-two', null],
        ['subnet_create', 'subnet-a', 'vpc-one'],
        ['vpc_create', 'vpc-one', null],
      ]
    );
    const [newest] = events.data;
    assert.equal(newest.seen, false);
    assert.deepEqual(await linode.markEventSeen(newest.id), {});
    const seen = await linode.getEvent(newest.id);
    assert.deepEqual([seen.seen, seen.read, seen.status, seen.username], [true, false, 'notification', 'admin']);
    assert.deepEqual(await linode.markEventRead(newest.id), {});
    const read = await linode.getEvents({}, { read: true });
    assert.deepEqual(ids(read), [newest.id]);
  },

  async instances() {
    const regions = await linode.getRegions({ page_size: 500 });
    assert.ok(regions.data.some((region) => region.id === 'us-mia' && region.capabilities.includes('VPCs')));
    const vpc = await linode.createVPC({
      label: 'net',
      region: 'us-mia',
      subnets: [{ label: 'a', ipv4: '10.0.0.0/24' }],
    });
    const subnet = vpc.subnets[0].id;
    const created = await linode.createLinode({
      label: 'web-1',
      type: 'g6-nanode-1',
      region: 'us-mia',
      image: 'linode/debian12',
      root_pass: 'correct horse battery staple 1A',
      interfaces: [
        { purpose: 'public', label: '', ipam_address: '' },
        { purpose: 'vpc', label: '', ipam_address: '', vpc_id: vpc.id, subnet_id: subnet, ipv4: { nat_1_1: 'any' } },
      ],
    });
    const instance = await linode.getLinode(created.id);
    assert.deepEqual([instance.label, instance.status, instance.region], ['web-1', 'running', 'us-mia']);
    assert.deepEqual(ids(await linode.getLinodes({ page_size: 500 }, { region: 'us-mia' })), [created.id]);
    assert.deepEqual(ids(await linode.getLinodes({ page_size: 500 }, { region: 'us-east' })), []);

    const [config] = (await linode.getLinodeConfigs(created.id)).data;
    const [publicInterface, attached] = config.interfaces;
    assert.deepEqual([publicInterface.purpose, attached.purpose, attached.active], ['public', 'vpc', true]);
    assert.deepEqual(attached.ipv4, { vpc: '10.0.0.2', nat_1_1: instance.ipv4[0] });
    assert.deepEqual([attached.vpc_id, attached.subnet_id, attached.ip_ranges], [vpc.id, subnet, []]);
    const [used] = (await linode.getSubnet(vpc.id, subnet)).linodes;
    assert.equal(used.id, created.id);
    assert.deepEqual(used.interfaces, [{ id: attached.id, active: true, config_id: config.id }]);
    const ofVpc = (await linode.getVPCIPs(vpc.id)).data;
    assert.deepEqual(
      ofVpc.map((ip) => [ip.address, ip.gateway, ip.prefix, ip.active, ip.linode_id, ip.config_id, ip.interface_id]),
      [['10.0.0.2', '10.0.0.1', 24, true, created.id, config.id, attached.id]]
    );
    assert.deepEqual((await linode.getVPCsIPs({}, { vpc_id: vpc.id })).data, ofVpc);
    const addresses = await linode.getLinodeIPs(created.id);
    assert.equal(addresses.ipv4.public[0].address, instance.ipv4[0]);
    assert.equal(addresses.ipv4.vpc[0].address, '10.0.0.2');
    assert.match(await refused(linode.deleteSubnet(vpc.id, subnet), 400, undefined), /in use by instance/);

    const second = await linode.createLinodeConfig(created.id, { label: 'second', devices: {}, interfaces: [] });
    // The request of the web app's form that assigns an instance to a subnet.
    const assigned = await linode.appendConfigInterface(created.id, second.id, {
      ip_ranges: ['10.0.0.64/28'],
      ipam_address: null,
      ipv4: { nat_1_1: '' },
      label: null,
      primary: true,
      purpose: 'vpc',
      subnet_id: subnet,
      vpc_id: vpc.id,
    });
    assert.deepEqual([assigned.ipv4.vpc, assigned.ipv4.nat_1_1], ['10.0.0.3', null]);
    assert.deepEqual([assigned.primary, assigned.active, assigned.ip_ranges], [true, false, ['10.0.0.64/28']]);
    const vlan = await linode.appendConfigInterface(created.id, second.id, {
      purpose: 'vlan',
      label: 'backstage',
      ipam_address: '10.9.0.1/24',
    });
    const changed = await linode.updateConfigInterface(created.id, second.id, assigned.id, {
      ipv4: { vpc: '10.0.0.9' },
      ip_ranges: [],
    });
    assert.deepEqual([changed.ipv4.vpc, changed.ip_ranges], ['10.0.0.9', []]);
    assert.equal((await linode.getConfigInterface(created.id, second.id, assigned.id)).ipv4.vpc, '10.0.0.9');
    await linode.updateLinodeConfigOrder(created.id, second.id, { ids: [vlan.id, assigned.id] });
    const ordered = await linode.getConfigInterfaces(created.id, second.id);
    assert.deepEqual(ordered.map((i) => i.id), [vlan.id, assigned.id]);
    const relabelled = await linode.updateLinodeConfig(created.id, second.id, { label: 'other' });
    assert.deepEqual([relabelled.label, relabelled.interfaces.length], ['other', 2]);

    assert.deepEqual(await linode.linodeReboot(created.id, second.id), {});
    assert.equal((await linode.getLinodeConfig(created.id, second.id)).interfaces[1].active, true);
    await refused(linode.deleteLinodeConfigInterface(created.id, second.id, assigned.id), 400, undefined);
    assert.deepEqual(await linode.linodeShutdown(created.id), {});
    assert.equal((await linode.getLinode(created.id)).status, 'offline');
    await linode.deleteLinodeConfigInterface(created.id, second.id, assigned.id);
    await linode.deleteLinodeConfig(created.id, second.id);
    assert.deepEqual(await linode.linodeBoot(created.id, config.id), {});
    assert.equal((await linode.updateLinode(created.id, { label: 'web-2' })).label, 'web-2');
    const boots = await linode.getEvents({}, { action: 'linode_boot', 'entity.id': created.id, 'entity.type': 'linode' });
    assert.deepEqual([boots.data[0].status, boots.data[0].percent_complete], ['finished', 100]);
    assert.equal(boots.data[0].secondary_entity.id, config.id);
    await linode.deleteLinode(created.id);
    await linode.deleteVPC(vpc.id);
    assert.equal((await linode.getVPCs()).results, 0);
  },

  async tickets() {
    const vpc = await linode.createVPC({ label: 'core', region: 'us-east', subnets: [] });
    const description = 'It is **slow**.\n\n```\nping\n```';
    // The request of the web app's form for a general question.
    const ticket = await linode.createSupportTicket({ general: 0, description, summary: 'Slow' });
    assert.deepEqual(
      [ticket.status, ticket.closable, ticket.closed, ticket.opened_by, ticket.updated_by, ticket.entity],
      ['new', true, null, 'admin', 'admin', null]
    );
    assert.deepEqual([ticket.summary, ticket.description, ticket.attachments], ['Slow', description, []]);
    assert.match(ticket.opened, times);
    assert.equal(ticket.updated, ticket.opened);
    assert.equal(ticket.gravatar_id, createHash('md5').update('admin@localhost').digest('hex'));
    const about = await linode.createSupportTicket({ vpc_id: vpc.id, description: 'what?', summary: 'VPC' });
    assert.deepEqual(about.entity, { id: vpc.id, label: 'core', type: 'vpc', url: `/v4/vpcs/${vpc.id}` });
    assert.deepEqual(await linode.getTicket(ticket.id), ticket);

    const reply = await linode.createReply({ description: 'Any news?', ticket_id: ticket.id });
    assert.deepEqual([reply.from_linode, reply.friendly_name, reply.created_by], [false, 'admin', 'admin']);
    assert.equal((await linode.getTicket(ticket.id)).status, 'new');
    assert.equal((await desk('POST', `/tickets/${ticket.id}/claim`, {})).claimed_by, 'grace');
    const claimed = await linode.getTicket(ticket.id);
    assert.deepEqual([claimed.status, claimed.updated_by], ['open', 'Support']);
    await desk('POST', `/tickets/${ticket.id}/notes`, { description: 'Internal.' });
    await desk('POST', `/tickets/${ticket.id}/replies`, { description: 'It is fixed.' });
    const replies = await linode.getTicketReplies(ticket.id, page25);
    assert.deepEqual(
      replies.data.map((r) => [r.friendly_name, r.created_by, r.from_linode, r.description]),
      [
        ['admin', 'admin', false, 'Any news?'],
        ['Support', 'Support', true, 'It is fixed.'],
      ]
    );
    assert.deepEqual([replies.page, replies.pages, replies.results], [1, 1, 2]);

    const events = await linode.getEvents({}, { action: { '+neq': 'profile_update' }, '+order': 'desc', '+order_by': 'id' });
    assert.deepEqual(
      events.data.map((event) => [event.action, event.username, event.entity.id]),
      [
        ['ticket_update', 'Support', ticket.id],
        ['ticket_update', 'Support', ticket.id],
        ['ticket_update', 'admin', ticket.id],
        ['ticket_create', 'admin', about.id],
        ['ticket_create', 'admin', ticket.id],
        ['vpc_create', 'admin', vpc.id],
      ]
    );
    assert.deepEqual(events.data[0].entity, {
      id: ticket.id,
      label: 'Slow',
      type: 'ticket',
      url: `/v4/support/tickets/${ticket.id}`,
    });

    assert.deepEqual(await linode.closeSupportTicket(ticket.id), {});
    const closed = await linode.getTicket(ticket.id);
    assert.deepEqual([closed.status, closed.closable, closed.updated_by], ['closed', false, 'admin']);
    assert.match(closed.closed, times);
    assert.match(await refused(linode.createReply({ description: 'late', ticket_id: ticket.id }), 400, undefined), /closed/);
    await desk('POST', `/tickets/${ticket.id}/reopen`);
    const reopened = await linode.getTicket(ticket.id);
    assert.deepEqual([reopened.status, reopened.closable, reopened.closed], ['open', true, null]);

    await refused(linode.createSupportTicket({ vpc_id: 999, description: 'd', summary: 's' }), 400, 'vpc_id');
    await refused(linode.getTicket(999), 404, undefined);
    await refused(linode.closeSupportTicket(999), 404, undefined);
  },

  async 'lists of tickets'() {
    const created = [];
    for (let number = 0; number < 30; number++) {
      const summary = `Number ${String(29 - number).padStart(2, '0')}`;
      created.push((await linode.createSupportTicket({ description: 'text', summary })).id);
    }
    await desk('POST', `/tickets/${created[4]}/claim`, {});
    await linode.closeSupportTicket(created[7]);
    await linode.closeSupportTicket(created[9]);
    const stillOpen = created.filter((id) => id !== created[7] && id !== created[9]).reverse();

    assert.deepEqual(ids(await linode.getTickets({ page_size: 100 })), [...stillOpen, created[9], created[7]]);
    const first = await linode.getTickets(page25, openTickets);
    assert.equal(lastFilter, '{"+order":"desc","+order_by":"opened","+or":[{"status":"open"},{"status":"new"}]}');
    assert.deepEqual(ids(first), stillOpen.slice(0, 25));
    assert.deepEqual([first.page, first.pages, first.results], [1, 2, 28]);
    const second = await linode.getTickets({ page: 2, page_size: 25 }, openTickets);
    assert.deepEqual(ids(second), stillOpen.slice(25));
    assert.deepEqual(ids(await linode.getTickets(page25, closedTickets)), [created[9], created[7]]);
    assert.equal(lastFilter, '{"+order":"desc","+order_by":"opened","status":"closed"}');
    const bySummary = { ...openTickets, '+order': 'asc', '+order_by': 'summary' };
    assert.deepEqual(ids(await linode.getTickets({ page_size: 100 }, bySummary)), stillOpen);
    const byId = { ...openTickets, '+order': 'asc', '+order_by': 'id' };
    assert.deepEqual(ids(await linode.getTickets({ page_size: 100 }, byId)), [...stillOpen].reverse());
    const byUpdater = { ...openTickets, '+order': 'asc', '+order_by': 'updated_by' };
    const [claimed, next] = (await linode.getTickets(page25, byUpdater)).data;
    assert.deepEqual([claimed.id, claimed.status, claimed.updated_by], [created[4], 'open', 'Support']);
    assert.deepEqual([next.id, next.status, next.updated_by], [created[0], 'new', 'admin']);
    await refused(linode.getTickets({}, { bogus: 1 }), 400, 'X-Filter');
  },

  async attachments() {
    const ticket = await linode.createSupportTicket({ description: 'text', summary: 'Look' });
    const form = (content, name, nameField) => {
      const form = new FormData();
      form.append('file', new Blob([content]), name);
      if (nameField) form.append('name', nameField);
      return form;
    };
    assert.deepEqual(await linode.uploadAttachment(ticket.id, form(png, 'shot.png', 'shot.png')), {});
    assert.deepEqual(await linode.uploadAttachment(ticket.id, form('two\nlines\n', 'Grüße.txt')), {});
    const names = ['shot.png', 'Grüße.txt'];
    assert.deepEqual((await linode.getTicket(ticket.id)).attachments, names);
    const events = await linode.getEvents({}, { action: 'ticket_attachment_upload' });
    assert.deepEqual(events.data.map((event) => event.entity.id), [ticket.id, ticket.id]);

    assert.match(await refused(linode.uploadAttachment(ticket.id, form('x', 'run.exe')), 400, 'file'), /file extension/);
    assert.match(await refused(linode.uploadAttachment(ticket.id, form('x', 'x.gif')), 400, 'file'), /GIF/);
    const large = Buffer.alloc(5 * 1024 * 1024 + 1, 'x');
    await refused(linode.uploadAttachment(ticket.id, form(large, 'large.txt')), 413, 'file');
    const otherField = new FormData();
    otherField.append('attachment', new Blob(['x']), 'x.txt');
    assert.match(await refused(linode.uploadAttachment(ticket.id, otherField), 400, 'file'), /required/);
    assert.deepEqual((await linode.getTicket(ticket.id)).attachments, names);

    const files = await desk('GET', `/tickets/${ticket.id}/attachments`);
    assert.deepEqual(files.data.map((file) => [file.name, file.size]), [['shot.png', png.length], ['Grüße.txt', 10]]);
    const download = await fetch(`${root}/v4/support/tickets/${ticket.id}/attachments/${files.data[0].id}`, {
      headers: { Authorization: `Bearer ${token}`, ...testHeaders },
    });
    assert.deepEqual(Buffer.from(await download.arrayBuffer()), png);

    await linode.closeSupportTicket(ticket.id);
    await refused(linode.uploadAttachment(ticket.id, form('late', 'late.txt')), 400, undefined);
  },

  async "the provider's tickets"() {
    const created = await desk('POST', '/tickets', { account_id: 1, summary: 'Maintenance', description: 'On Sunday.' });
    assert.deepEqual(ids(await linode.getTickets(page25, openTickets)), [created.id]);
    const ticket = await linode.getTicket(created.id);
    assert.deepEqual([ticket.opened_by, ticket.status, ticket.closable], ['Support', 'new', false]);
    assert.match(await refused(linode.closeSupportTicket(created.id), 400, undefined), /provider/);
    assert.equal((await linode.createReply({ description: 'Why?', ticket_id: created.id })).from_linode, false);
    await desk('PUT', `/tickets/${created.id}`, { closable: true });
    assert.equal((await linode.getTicket(created.id)).closable, true);
    assert.deepEqual(await linode.closeSupportTicket(created.id), {});
    assert.deepEqual(ids(await linode.getTickets(page25, closedTickets)), [created.id]);
  },
};

try {
  const tools = { token, useToken, refused, ids };
  const groups = [identity, otherProducts, addresses];
  const test = tests[name] ?? groups.map((group) => group(linode, tools, name)).find((found) => found);
  await test();
} catch (error) {
  const at = /javascript\.mjs:\d+/.exec(error.stack)?.[0];
  console.error(`${error.response ? JSON.stringify(error.response.data) : (error.message ?? JSON.stringify(error))} (${at})`);
  process.exit(1);
}
