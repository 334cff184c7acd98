// @linode/api-v4 on addresses of instances, tags, SSH keys and log-ins; javascript.mjs runs these.

import assert from 'node:assert/strict';

const KEY = 'ssh-ed25519 AAAAC3NzaC1lZDI1NTE5AAAAIMtUMl4Y0bSAMOHUOWuFKqZr8nSVXhFaLbqkmzoQX8sU ada@example.com';

export default function tests(linode, { refused, ids }, name) {
  return {
    async 'addresses, tags, keys and log-ins'() {
      const instance = await linode.createLinode({ type: 'g6-nanode-1', region: 'us-mia', label: 'js-1' });
      const [first] = instance.ipv4;
      const added = await linode.allocateIPAddress(instance.id, { type: 'ipv4', public: true });
      const other = await linode.allocateIp({ type: 'ipv4', public: false, linode_id: instance.id });
      assert.deepEqual([added.public, other.public, other.gateway], [true, false, null]);
      const listed = await linode.getIPs({ page_size: 100 }, { region: 'us-mia' });
      assert.deepEqual(listed.data.map((ip) => ip.address), [first, added.address, other.address]);
      assert.equal((await linode.updateIP(added.address, 'web.example.com')).rdns, 'web.example.com');
      assert.equal((await linode.updateIP(added.address, null)).rdns, null);
      assert.equal((await linode.getIP(added.address)).linode_id, instance.id);
      assert.deepEqual(await linode.removeIPAddress({ linodeID: instance.id, address: added.address }), {});
      await refused(linode.removeIPAddress({ linodeID: instance.id, address: first }), 400, undefined);

      assert.deepEqual(await linode.createTag({ label: 'production', linodes: [instance.id] }), { label: 'production' });
      assert.deepEqual((await linode.getTags()).data, [{ label: 'production' }]);
      assert.deepEqual((await linode.getLinode(instance.id)).tags, ['production']);
      await linode.deleteTag('production');
      assert.equal((await linode.getTags()).results, 0);

      const key = await linode.createSSHKey({ label: 'laptop', ssh_key: KEY });
      assert.equal((await linode.updateSSHKey(key.id, { label: 'desktop' })).label, 'desktop');
      assert.equal((await linode.getSSHKey(key.id)).ssh_key, KEY);
      assert.deepEqual(ids(await linode.getSSHKeys()), [key.id]);
      assert.deepEqual(await linode.deleteSSHKey(key.id), {});

      const order = { '+order_by': 'datetime', '+order': 'desc' };
      const [login] = (await linode.getAccountLogins({ page_size: 25 }, order)).data;
      assert.deepEqual([login.username, login.status, login.ip], ['admin', 'successful', '127.0.0.1']);
      assert.deepEqual(await linode.getAccountLogin(login.id), login);
      assert.deepEqual((await linode.getLogins()).data, [login]);
    },
  }[name];
}
