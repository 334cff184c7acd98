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

const [folder, root, token, staffToken, name] = process.argv.slice(2);
const linode = createRequire(resolve(folder, 'package.json'))('@linode/api-v4');

// The client has the public service's address built in; this is how the web app turns it elsewhere.
let signedIn;
function useToken(token) {
  if (signedIn !== undefined) linode.baseRequest.interceptors.request.eject(signedIn);
  signedIn = linode.setToken(token);
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
// The id of requests that the test sends by itself: they are not the client's.
const own = { 'X-Request-Id': 'by-the-test-itself' };
const page25 = { page: 1, page_size: 25 };
const png = Buffer.concat([Buffer.from('\x89PNG\r\n\x1a\n', 'latin1'), Buffer.alloc(3 * 1024 * 1024, 7)]);

// One of the staff at work, who has no client but the desk itself.
async function desk(method, path, body) {
  const answer = await fetch(`${root}/v4/desk${path}`, {
    method,
    headers: { Authorization: `Bearer ${staffToken}`, 'Content-Type': 'application/json', ...own },
    body: body && JSON.stringify(body),
  });
  const told = await answer.json();
  assert.equal(answer.status, 200, `${method} ${path}: ${JSON.stringify(told)}`);
  return told;
}

// What the server says when it refuses.
async function refused(promise, status, field) {
  const error = await promise.then(
    () => assert.fail('it was not refused'),
    (error) => error
  );
  assert.ok(error.response, `it never left the client: ${JSON.stringify(error)}`);
  assert.equal(error.response.status, status, JSON.stringify(error.response.data));
  const [first] = error.response.data.errors;
  assert.equal(first.field, field, JSON.stringify(error.response.data));
  return first.reason;
}

const ids = (page) => page.data.map((thing) => thing.id);
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
    const made = await linode.createLinode({
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
    const instance = await linode.getLinode(made.id);
    assert.deepEqual([instance.label, instance.status, instance.region], ['web-1', 'running', 'us-mia']);
    assert.deepEqual(ids(await linode.getLinodes({ page_size: 500 }, { region: 'us-mia' })), [made.id]);
    assert.deepEqual(ids(await linode.getLinodes({ page_size: 500 }, { region: 'us-east' })), []);

    const [config] = (await linode.getLinodeConfigs(made.id)).data;
    const [plain, attached] = config.interfaces;
    assert.deepEqual([plain.purpose, attached.purpose, attached.active], ['public', 'vpc', true]);
    assert.deepEqual(attached.ipv4, { vpc: '10.0.0.2', nat_1_1: instance.ipv4[0] });
    assert.deepEqual([attached.vpc_id, attached.subnet_id, attached.ip_ranges], [vpc.id, subnet, []]);
    const [used] = (await linode.getSubnet(vpc.id, subnet)).linodes;
    assert.equal(used.id, made.id);
    assert.deepEqual(used.interfaces, [{ id: attached.id, active: true, config_id: config.id }]);
    const ofVpc = (await linode.getVPCIPs(vpc.id)).data;
    assert.deepEqual(
      ofVpc.map((ip) => [ip.address, ip.gateway, ip.prefix, ip.active, ip.linode_id, ip.config_id, ip.interface_id]),
      [['10.0.0.2', '10.0.0.1', 24, true, made.id, config.id, attached.id]]
    );
    assert.deepEqual((await linode.getVPCsIPs({}, { vpc_id: vpc.id })).data, ofVpc);
    const own = await linode.getLinodeIPs(made.id);
    assert.equal(own.ipv4.public[0].address, instance.ipv4[0]);
    assert.equal(own.ipv4.vpc[0].address, '10.0.0.2');
    assert.match(await refused(linode.deleteSubnet(vpc.id, subnet), 400, undefined), /in use by instance/);

    const second = await linode.createLinodeConfig(made.id, { label: 'second', devices: {}, interfaces: [] });
    // As the drawer that assigns an instance to a subnet sends it.
    const assigned = await linode.appendConfigInterface(made.id, second.id, {
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
    const vlan = await linode.appendConfigInterface(made.id, second.id, {
      purpose: 'vlan',
      label: 'backstage',
      ipam_address: '10.9.0.1/24',
    });
    const changed = await linode.updateConfigInterface(made.id, second.id, assigned.id, {
      ipv4: { vpc: '10.0.0.9' },
      ip_ranges: [],
    });
    assert.deepEqual([changed.ipv4.vpc, changed.ip_ranges], ['10.0.0.9', []]);
    assert.equal((await linode.getConfigInterface(made.id, second.id, assigned.id)).ipv4.vpc, '10.0.0.9');
    await linode.updateLinodeConfigOrder(made.id, second.id, { ids: [vlan.id, assigned.id] });
    const ordered = await linode.getConfigInterfaces(made.id, second.id);
    assert.deepEqual(ordered.map((i) => i.id), [vlan.id, assigned.id]);
    const relabelled = await linode.updateLinodeConfig(made.id, second.id, { label: 'other' });
    assert.deepEqual([relabelled.label, relabelled.interfaces.length], ['other', 2]);

    assert.deepEqual(await linode.linodeReboot(made.id, second.id), {});
    assert.equal((await linode.getLinodeConfig(made.id, second.id)).interfaces[1].active, true);
    await refused(linode.deleteLinodeConfigInterface(made.id, second.id, assigned.id), 400, undefined);
    assert.deepEqual(await linode.linodeShutdown(made.id), {});
    assert.equal((await linode.getLinode(made.id)).status, 'offline');
    await linode.deleteLinodeConfigInterface(made.id, second.id, assigned.id);
    await linode.deleteLinodeConfig(made.id, second.id);
    assert.deepEqual(await linode.linodeBoot(made.id, config.id), {});
    assert.equal((await linode.updateLinode(made.id, { label: 'web-2' })).label, 'web-2');
    const boots = await linode.getEvents({}, { action: 'linode_boot', 'entity.id': made.id, 'entity.type': 'linode' });
    assert.deepEqual([boots.data[0].status, boots.data[0].percent_complete], ['finished', 100]);
    assert.equal(boots.data[0].secondary_entity.id, config.id);
    await linode.deleteLinode(made.id);
    await linode.deleteVPC(vpc.id);
    assert.equal((await linode.getVPCs()).results, 0);
  },

  async tickets() {
    const vpc = await linode.createVPC({ label: 'core', region: 'us-east', subnets: [] });
    const description = 'It is **slow**.\n\n```\nping\n```';
    // What the web app's form sends for a question about nothing in particular.
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

    const asked = await linode.createReply({ description: 'Any news?', ticket_id: ticket.id });
    assert.deepEqual([asked.from_linode, asked.friendly_name, asked.created_by], [false, 'admin', 'admin']);
    assert.equal((await linode.getTicket(ticket.id)).status, 'new');
    assert.equal((await desk('POST', `/tickets/${ticket.id}/claim`, {})).claimed_by, 'grace');
    const taken = await linode.getTicket(ticket.id);
    assert.deepEqual([taken.status, taken.updated_by], ['open', 'Support']);
    await desk('POST', `/tickets/${ticket.id}/notes`, { description: 'Not for them.' });
    await desk('POST', `/tickets/${ticket.id}/replies`, { description: 'It is mended.' });
    const replies = await linode.getTicketReplies(ticket.id, page25);
    assert.deepEqual(
      replies.data.map((r) => [r.friendly_name, r.created_by, r.from_linode, r.description]),
      [
        ['admin', 'admin', false, 'Any news?'],
        ['Support', 'Support', true, 'It is mended.'],
      ]
    );
    assert.deepEqual([replies.page, replies.pages, replies.results], [1, 1, 2]);

    const bell = await linode.getEvents({}, { action: { '+neq': 'profile_update' }, '+order': 'desc', '+order_by': 'id' });
    assert.deepEqual(
      bell.data.map((event) => [event.action, event.username, event.entity.id]),
      [
        ['ticket_update', 'Support', ticket.id],
        ['ticket_update', 'Support', ticket.id],
        ['ticket_update', 'admin', ticket.id],
        ['ticket_create', 'admin', about.id],
        ['ticket_create', 'admin', ticket.id],
        ['vpc_create', 'admin', vpc.id],
      ]
    );
    assert.deepEqual(bell.data[0].entity, {
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
    const again = await linode.getTicket(ticket.id);
    assert.deepEqual([again.status, again.closable, again.closed], ['open', true, null]);

    await refused(linode.createSupportTicket({ vpc_id: 999, description: 'd', summary: 's' }), 400, 'vpc_id');
    await refused(linode.getTicket(999), 404, undefined);
    await refused(linode.closeSupportTicket(999), 404, undefined);
  },

  async 'lists of tickets'() {
    const made = [];
    for (let number = 0; number < 30; number++) {
      const summary = `Number ${String(29 - number).padStart(2, '0')}`;
      made.push((await linode.createSupportTicket({ description: 'text', summary })).id);
    }
    await desk('POST', `/tickets/${made[4]}/claim`, {});
    await linode.closeSupportTicket(made[7]);
    await linode.closeSupportTicket(made[9]);
    const stillOpen = made.filter((id) => id !== made[7] && id !== made[9]).reverse();

    assert.deepEqual(ids(await linode.getTickets({ page_size: 100 })), [...stillOpen, made[9], made[7]]);
    const first = await linode.getTickets(page25, openTickets);
    assert.equal(lastFilter, '{"+order":"desc","+order_by":"opened","+or":[{"status":"open"},{"status":"new"}]}');
    assert.deepEqual(ids(first), stillOpen.slice(0, 25));
    assert.deepEqual([first.page, first.pages, first.results], [1, 2, 28]);
    const second = await linode.getTickets({ page: 2, page_size: 25 }, openTickets);
    assert.deepEqual(ids(second), stillOpen.slice(25));
    assert.deepEqual(ids(await linode.getTickets(page25, closedTickets)), [made[9], made[7]]);
    assert.equal(lastFilter, '{"+order":"desc","+order_by":"opened","status":"closed"}');
    const bySummary = { ...openTickets, '+order': 'asc', '+order_by': 'summary' };
    assert.deepEqual(ids(await linode.getTickets({ page_size: 100 }, bySummary)), stillOpen);
    const byId = { ...openTickets, '+order': 'asc', '+order_by': 'id' };
    assert.deepEqual(ids(await linode.getTickets({ page_size: 100 }, byId)), [...stillOpen].reverse());
    const byWhom = { ...openTickets, '+order': 'asc', '+order_by': 'updated_by' };
    const [taken, next] = (await linode.getTickets(page25, byWhom)).data;
    assert.deepEqual([taken.id, taken.status, taken.updated_by], [made[4], 'open', 'Support']);
    assert.deepEqual([next.id, next.status, next.updated_by], [made[0], 'new', 'admin']);
    await refused(linode.getTickets({}, { bogus: 1 }), 400, 'X-Filter');
  },

  async attachments() {
    const ticket = await linode.createSupportTicket({ description: 'text', summary: 'Look' });
    const form = (content, name, beside) => {
      const form = new FormData();
      form.append('file', new Blob([content]), name);
      if (beside) form.append('name', beside);
      return form;
    };
    assert.deepEqual(await linode.uploadAttachment(ticket.id, form(png, 'shot.png', 'shot.png')), {});
    assert.deepEqual(await linode.uploadAttachment(ticket.id, form('two\nlines\n', 'Grüße.txt')), {});
    const names = ['shot.png', 'Grüße.txt'];
    assert.deepEqual((await linode.getTicket(ticket.id)).attachments, names);
    const told = await linode.getEvents({}, { action: 'ticket_attachment_upload' });
    assert.deepEqual(told.data.map((event) => event.entity.id), [ticket.id, ticket.id]);

    assert.match(await refused(linode.uploadAttachment(ticket.id, form('x', 'run.exe')), 400, 'file'), /extensions/);
    assert.match(await refused(linode.uploadAttachment(ticket.id, form('x', 'x.gif')), 400, 'file'), /GIF/);
    const large = Buffer.alloc(5 * 1024 * 1024 + 1, 'x');
    await refused(linode.uploadAttachment(ticket.id, form(large, 'large.txt')), 413, 'file');
    const elsewhere = new FormData();
    elsewhere.append('attachment', new Blob(['x']), 'x.txt');
    assert.match(await refused(linode.uploadAttachment(ticket.id, elsewhere), 400, 'file'), /required/);
    assert.deepEqual((await linode.getTicket(ticket.id)).attachments, names);

    const files = await desk('GET', `/tickets/${ticket.id}/attachments`);
    assert.deepEqual(files.data.map((file) => [file.name, file.size]), [['shot.png', png.length], ['Grüße.txt', 10]]);
    const whole = await fetch(`${root}/v4/support/tickets/${ticket.id}/attachments/${files.data[0].id}`, {
      headers: { Authorization: `Bearer ${token}`, ...own },
    });
    assert.deepEqual(Buffer.from(await whole.arrayBuffer()), png);

    await linode.closeSupportTicket(ticket.id);
    await refused(linode.uploadAttachment(ticket.id, form('late', 'late.txt')), 400, undefined);
  },

  async "the provider's tickets"() {
    const made = await desk('POST', '/tickets', { account_id: 1, summary: 'Maintenance', description: 'On Sunday.' });
    assert.deepEqual(ids(await linode.getTickets(page25, openTickets)), [made.id]);
    const ours = await linode.getTicket(made.id);
    assert.deepEqual([ours.opened_by, ours.status, ours.closable], ['Support', 'new', false]);
    assert.match(await refused(linode.closeSupportTicket(made.id), 400, undefined), /provider/);
    assert.equal((await linode.createReply({ description: 'Why?', ticket_id: made.id })).from_linode, false);
    await desk('PUT', `/tickets/${made.id}`, { closable: true });
    assert.equal((await linode.getTicket(made.id)).closable, true);
    assert.deepEqual(await linode.closeSupportTicket(made.id), {});
    assert.deepEqual(ids(await linode.getTickets(page25, closedTickets)), [made.id]);
  },
};

try {
  await (tests[name] ?? identity(linode, { token, useToken, refused, ids }, name))();
} catch (error) {
  const at = /javascript\.mjs:\d+/.exec(error.stack)?.[0];
  console.error(`${error.response ? JSON.stringify(error.response.data) : (error.message ?? JSON.stringify(error))} (${at})`);
  process.exit(1);
}
