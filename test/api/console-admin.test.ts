import { newestSchemaVersion } from '@inference-gateway/coordinator/store/sqlite/migrations';
import { afterAll, beforeAll, describe, expect, it } from 'vitest';
import { openGateway, startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { expectDocumented } from '../support/openapi.js';
import { act, ask, readAdmin, readMy } from './console-calls.js';
import { failureOf } from './requests.js';
import { visit } from './visitor.js';
import type { Visitor } from './visitor.js';

const ADA = 'ada@example.org';

let gateway: TestGateway;
let anna: Visitor;
let ada: Visitor;

beforeAll(async () => {
  gateway = await openGateway();
  const user = { email: ADA, name: 'Ada', admin: true, password: null };
  await gateway.admin('user.create', user);
  anna = await visit(gateway, 'anna@example.org');
  ada = await visit(gateway, ADA);
});

afterAll(() => gateway.stop());

describe('what administrators do', () => {
  it.each(['user.list', 'audit.list', 'system.show', 'stats.live', 'nothing'])(
    'a member may not: %s',
    async (name) => {
      const response = await ask(anna, ['admin', name]);
      await expectDocumented(new URL(response.url).pathname, 'GET', response);
      expect(await failureOf(response)).toMatchObject({ status: 403, code: 'not_allowed' });
      expect((await act(anna, ['admin', name])).status).toBe(403);
    },
  );

  it('they do as the command line does, and it is written down as theirs', async () => {
    const users = await readAdmin(ada, 'user.list', {});
    expect(users.map(({ name }) => name)).toEqual(expect.arrayContaining(['Anna', 'Ben', 'Ada']));
    expect((await act(ada, ['admin', 'limit.set'], { member: 'Ben', requests: 7 })).status).toBe(
      200,
    );
    const args = { since_s: null, action: 'limit.set', actor: null, subject: null, limit: 1 };
    const [entry] = await readAdmin(ada, 'audit.list', args);
    expect(entry).toMatchObject({ actor_name: 'Ada', after: { requests: 7 } });
    expect(entry?.actor).toMatch(/^member:/);
    await gateway.admin('limit.clear', { member: 'Ben' });
  });

  it('one who is no administrator any more may nothing at once', async () => {
    await gateway.admin('user.role', { member: 'Ada', role: 'member' });
    expect((await ask(ada, ['admin', 'user.list'])).status).toBe(403);
    await gateway.admin('user.role', { member: 'Ada', role: 'admin' });
    expect((await ask(ada, ['admin', 'user.list'])).status).toBe(200);
  });

  it('the system tells what it runs on', async () => {
    const system = await readAdmin(ada, 'system.show', {});
    expect(system).toMatchObject({
      address: gateway.address,
      public_url: null,
      schema_version: newestSchemaVersion(),
      async_enabled: true,
      retention_days: 30,
    });
    expect(system.version).toMatch(/^\d+\.\d+\.\d+/);
    expect(system.database_bytes).toBeGreaterThan(4_096);
    expect(system.limits).toMatchObject({ max_concurrent: 256, provider_approval: false });
  });

  it('what the gateway does now is one answer for all tabs of a second', async () => {
    const live = await readAdmin(ada, 'stats.live', {});
    expect(live).toMatchObject({ requests_per_minute: 0, tokens_per_s: 0, errors_60m: 0 });
    expect(live).toMatchObject({ running: 0, queued: 0, first_byte_p50_ms: null });
    expect(live.minutes).toHaveLength(60);
    expect(live.minutes.at(-1)?.minute).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d$/);
  });

  it('the last backup is known, and made by the command line alone', async () => {
    expect(await readAdmin(ada, 'system.show', {})).toMatchObject({ last_backup_at: null });
    const backup = { target: '/backup/gateway.tar', bytes: 5_000 };
    expect((await act(ada, ['admin', 'backup.record'], backup)).status).toBe(403);
    const before = Date.now();
    await gateway.admin('backup.record', backup);
    const { last_backup_at: at } = await readAdmin(ada, 'system.show', {});
    expect(at).toBeGreaterThanOrEqual(before);
    expect(at).toBeLessThanOrEqual(Date.now());
  });

  it('a provider that waits is told, though its agent was never here', async () => {
    const asked = await startGateway({ providerApproval: true });
    await asked.anna.enroll('den-pc');
    await asked.admin('user.create', { email: ADA, name: 'Ada', admin: true, password: null });
    const admin = await visit(asked, ADA);
    const kinds = async (): Promise<string[]> =>
      (await readMy(admin, 'home.show', {})).attention.map(({ kind }) => kind);
    expect(await kinds()).toEqual(['providers_waiting']);
    await asked.admin('provider.approve', { provider: 'den-pc' });
    expect(await kinds()).toEqual([]);
  });

  it('a wrong password is not repeated', async () => {
    const args = { member: 'Ben', password: 'tooshort' };
    const refused = await failureOf(await act(ada, ['admin', 'user.password'], args));
    expect(refused).toMatchObject({ status: 400, param: 'password' });
    expect(refused.message).not.toContain('tooshort');
  });
});
