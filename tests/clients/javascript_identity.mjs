// @linode/api-v4: users, tokens, profile, account and catalog. javascript.mjs runs these tests.

import assert from 'node:assert/strict';

export default function tests(linode, { token, useToken, refused, ids }, name) {
  const labels = (page) => page.data.map((item) => item.label);

  return {
    async 'tokens and users'() {
      const created = await linode.createPersonalAccessToken({
        label: 'created',
        scopes: 'vpc:read_write account:read_only',
        expiry: '2099-01-02T03:04:05',
      });
      assert.match(created.token, /^[0-9a-f]{64}$/);
      assert.deepEqual([created.label, created.expiry], ['created', '2099-01-02T03:04:05']);
      assert.equal((await linode.updatePersonalAccessToken(created.id, { label: 'renamed' })).label, 'renamed');
      const seen = await linode.getPersonalAccessToken(created.id);
      assert.deepEqual([seen.label, seen.token], ['renamed', created.token.slice(0, 16)]);
      assert.deepEqual(labels(await linode.getPersonalAccessTokens({ page_size: 25 }, { label: 'renamed' })), ['renamed']);
      useToken(created.token);
      assert.equal((await linode.createVPC({ label: 'by-token', region: 'us-mia' })).label, 'by-token');
      assert.equal(
        await refused(linode.createUser({ username: 'eve', email: 'eve@example.com', restricted: true }), 401, undefined),
        'Your OAuth token is not authorized to use this endpoint.'
      );
      useToken(token);
      assert.deepEqual(await linode.deletePersonalAccessToken(created.id), {});
      assert.deepEqual(labels(await linode.getPersonalAccessTokens()), ['first start']);

      const ada = await linode.createUser({ username: 'ada', email: 'ada@example.com', restricted: true });
      assert.deepEqual([ada.username, ada.email, ada.restricted], ['ada', 'ada@example.com', true]);
      await refused(linode.createUser({ username: 'ada', email: 'b@example.com', restricted: true }), 400, 'username');
      const none = await linode.getGrants('ada');
      assert.deepEqual(none.vpc.map((grant) => [grant.label, grant.permissions]), [['by-token', null]]);
      assert.equal(none.global.add_vpcs, false);
      const granted = await linode.updateGrants('ada', {
        global: { ...none.global, add_vpcs: true, account_access: 'read_only' },
        vpc: none.vpc.map((grant) => ({ ...grant, permissions: 'read_write' })),
      });
      assert.deepEqual([granted.global.add_vpcs, granted.global.account_access], [true, 'read_only']);
      assert.equal((await linode.getGrants('ada')).vpc[0].permissions, 'read_write');
      const changed = await linode.updateUser('ada', { username: 'eda', email: 'eda@example.com' });
      assert.deepEqual([changed.username, changed.email, changed.restricted], ['eda', 'eda@example.com', true]);
      assert.deepEqual(await linode.getUser('eda'), changed);
      await refused(linode.getUser('ada'), 404, undefined);
      const names = (await linode.getUsers({ page_size: 25 }, { '+order_by': 'username', '+order': 'desc' })).data;
      assert.deepEqual(names.map((user) => user.username), ['eda', 'admin']);
      assert.deepEqual(await linode.deleteUser('eda'), {});
      assert.equal((await linode.getUsers()).results, 1);
    },

    async 'profile and applications'() {
      const mine = await linode.getProfile();
      assert.deepEqual([mine.username, mine.uid, mine.restricted], ['admin', 1, false]);
      const changed = await linode.updateProfile({ email: 'root@example.com', timezone: 'Europe/Berlin' });
      assert.deepEqual([changed.email, changed.timezone], ['root@example.com', 'Europe/Berlin']);
      assert.deepEqual(await linode.getProfile(), changed);
      assert.equal(await linode.listGrants(), '', 'unrestricted users have no grants');
      const preferences = { sortKeys: { 'vpcs-order': { order: 'asc', orderBy: 'label' } }, theme: 'dark' };
      assert.deepEqual(await linode.updateUserPreferences(preferences), preferences);
      assert.deepEqual(await linode.getUserPreferences(), preferences);

      const client = await linode.createOAuthClient({ label: 'App', redirect_uri: 'https://app.example/cb', public: true });
      assert.match(client.secret, /^[0-9a-f]{64}$/);
      assert.deepEqual([client.label, client.public, client.status], ['App', true, 'active']);
      const renamed = await linode.updateOAuthClient(client.id, { label: 'Other', redirect_uri: 'https://app.example/two' });
      assert.deepEqual([renamed.label, renamed.redirect_uri], ['Other', 'https://app.example/two']);
      assert.equal((await linode.getOAuthClient(client.id)).secret, '<REDACTED>');
      const fresh = await linode.resetOAuthClientSecret(client.id);
      assert.match(fresh.secret, /^[0-9a-f]{64}$/);
      assert.notEqual(fresh.secret, client.secret);
      assert.deepEqual(ids(await linode.getOAuthClients({}, { label: 'Other' })), [client.id]);
      assert.deepEqual(await linode.deleteOAuthClient(client.id), {});

      const { data } = await linode.getAppTokens();
      assert.deepEqual(data.map((app) => [app.label, app.scopes]), [['Tool', 'vpc:read_write']]);
      assert.deepEqual(await linode.getAppToken(data[0].id), data[0]);
      assert.deepEqual(await linode.deleteAppToken(data[0].id), {});
      assert.equal((await linode.getAppTokens()).results, 0);
    },

    async 'account and catalog'() {
      const account = await linode.getAccountInfo();
      assert.equal(account.email, 'admin@localhost');
      assert.ok(account.capabilities.includes('VPCs'));
      const settings = await linode.getAccountSettings();
      assert.deepEqual([settings.managed, settings.network_helper], [false, true]);
      const regions = ids(await linode.getRegions({ page_size: 500 }));
      const available = (await linode.getAccountAvailabilities({ page_size: 500 })).data;
      assert.deepEqual(available.map((row) => row.region), regions);
      const mia = await linode.getRegion('us-mia');
      assert.deepEqual(await linode.getAccountAvailability('us-mia'), {
        region: 'us-mia',
        available: mia.capabilities,
        unavailable: [],
      });
      assert.deepEqual([mia.label, mia.country, mia.status], ['Miami, FL', 'us', 'ok']);
      const types = await linode.getLinodeTypes();
      const nanode = await linode.getType('g6-nanode-1');
      assert.deepEqual([nanode.memory, nanode.disk, nanode.price.monthly], [1024, 25600, 5]);
      assert.deepEqual(types.data.find((type) => type.id === 'g6-nanode-1'), nanode);
      const alpine = await linode.getImages({}, { vendor: 'Alpine' });
      assert.ok(alpine.results >= 2);
      assert.deepEqual(await linode.getImage(alpine.data[0].id), alpine.data[0]);
    },
  }[name];
}
