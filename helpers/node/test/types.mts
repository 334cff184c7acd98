// Not run: the TypeScript compiler checks that this compiles.

import { GarthError, connectGarth, startGarth } from '../index.mjs';
import type { RecordedRequest, Server, Snapshot, Tenant } from '../index.mjs';

export async function useEverything(): Promise<void> {
  const garth: Server = await startGarth({ binary: 'garth', arguments: ['--chaos=light'] });
  const tenant: Tenant = await (await connectGarth(garth.url)).tenant();
  await garth.freeze(new Date(0));
  await garth.freeze('2024-06-01T12:00:00');
  const now: Date = await garth.advance(60);
  await garth.unfreeze();
  await garth.failNext({ method: 'POST', path: '/vpcs', account: tenant.accountId, times: Infinity, drop: 'after' });
  await tenant.failNext({ operation: 'getVpcs', status: 503, delayMs: 10 });
  // @ts-expect-error: only "before" and "after" are accepted.
  await tenant.failNext({ drop: 'later' });
  await garth.clearFaults();
  const snapshot: Snapshot = await garth.snapshot();
  await snapshot.restore();
  await garth.restore(snapshot.name);
  await snapshot.delete();
  const requests: RecordedRequest[] = await garth.requests();
  const status: number | null = requests[0]!.status;
  await garth.changeSettings({ 'quota.vpcs_per_region': null });
  await garth.reset();
  await garth.stop();
  throw new GarthError(`${now.toISOString()} ${status} ${tenant.apiUrl} ${tenant.token} ${tenant.username}`);
}
