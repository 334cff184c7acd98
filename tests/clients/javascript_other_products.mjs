// Tests of @linode/api-v4 with products that Garth does not have, and with small resources; javascript.mjs runs them.

import assert from 'node:assert/strict';

export default function tests(linode, { refused, ids }, name) {
  return {
    async 'products that Garth does not have'() {
      const lists = [
        'getNotifications', 'getAccountMaintenance', 'getBetas', 'getTrustedDevices', 'getManagedIssues', 'getServices',
        'getInvoices', 'getPayments', 'getPaymentMethods', 'getServiceTransfers', 'getAccountBetas', 'getFirewalls',
        'getTemplates', 'getIPv6Ranges', 'getNodeBalancers', 'getDomains', 'getVolumes', 'getKubernetesClusters',
        'getDatabases', 'getDatabaseTypes', 'getStackScripts', 'getPlacementGroups', 'getLongviewClients',
        'getLongviewSubscriptions', 'getStreams', 'getDestinations', 'getClusters', 'getNetworkTransferPrices',
      ];
      for (const list of lists) {
        const page = await linode[list]({ page: 1, page_size: 100 }, { '+order': 'desc', '+order_by': 'label' });
        assert.deepEqual(page, { data: [], page: 1, pages: 1, results: 0 }, list);
      }
      assert.equal((await linode.getChildAccounts({})).results, 0);
      assert.equal((await linode.getFirewallSettings()).default_firewall_ids.linode, null);
      assert.deepEqual(await linode.getActiveLongviewPlan(), {});
      assert.equal((await linode.getAccountAgreements()).billing_agreement, true);
      const { security_questions: questions } = await linode.getSecurityQuestions();
      assert.ok(questions.length > 3 && questions.every((question) => question.response === null));
      const volume = linode.createVolume({ label: 'data', size: 20, region: 'us-mia' });
      assert.equal(await refused(volume, 400, undefined), 'Volumes are not offered; instances have disks');
      const transfer = linode.createServiceTransfer({ entities: { linodes: [1] } });
      assert.match(await refused(transfer, 400, undefined), /^Transfers between accounts are not offered/);
    },

    async 'catalog, permissions and settings'() {
      const kernels = await linode.getLinodeKernels({}, { kvm: true });
      assert.ok(ids(kernels).includes('linode/grub2'));
      assert.deepEqual(await linode.getLinodeKernel(kernels.data[0].id), kernels.data[0]);
      const { data: policies } = await linode.getMaintenancePolicies();
      assert.deepEqual(policies.map((policy) => policy.slug), ['linode/migrate', 'linode/power_off_on']);
      const filter = { region: 'us-mia', plan: 'g6-nanode-1' };
      const nanode = { region: 'us-mia', plan: 'g6-nanode-1', available: true };
      assert.deepEqual((await linode.getRegionAvailabilities({}, filter)).data, [nanode]);
      assert.deepEqual((await linode.getRegionAvailability('us-mia'))[0], nanode);
      const vpcs = await linode.getRegionVPCAvailability('us-mia');
      assert.deepEqual(vpcs, { region: 'us-mia', available: true, available_ipv6_prefix_lengths: [52, 48, 44] });
      assert.deepEqual((await linode.getRegionsVPCAvailabilities({}, { region: 'us-mia' })).data, [vpcs]);
      assert.equal((await linode.getVlans()).results, 0);
      assert.deepEqual(await linode.getNetworkUtilization(), { billable: 0, quota: 0, used: 0, region_transfers: [] });

      const may = await linode.getUserAccountPermissions('admin');
      assert.ok(may.includes('is_account_admin') && may.includes('create_vpc'));
      const vpc = await linode.createVPC({ label: 'one', region: 'us-mia' });
      assert.ok((await linode.getUserEntityPermissions('admin', 'vpc', vpc.id)).includes('delete_vpc'));
      assert.deepEqual(await linode.getUserEntityPermissions('admin', 'linode', -1), []);

      const account = await linode.updateAccountInfo({ first_name: 'Ada', city: 'London', country: 'GB' });
      assert.deepEqual([account.first_name, account.city, account.country], ['Ada', 'London', 'GB']);
      assert.deepEqual(await linode.getAccountInfo(), account);
      const settings = await linode.updateAccountSettings({ network_helper: false });
      assert.equal(settings.network_helper, false);
      await refused(linode.updateAccountSettings({ backups_enabled: true }), 400, 'backups_enabled');
    },
  }[name];
}
