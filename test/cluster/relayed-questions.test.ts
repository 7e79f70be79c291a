/** An owner at one coordinator asks their agent, which is linked to another one. */
import { expect, onTestFinished, test } from 'vitest';
import { MANAGED } from '../agent/models/model-stage.js';
import { PASSWORD } from '../api/account-calls.js';
import { ask, my, readMy } from '../api/console-calls.js';
import { visitAgain } from '../api/visitor.js';
import type { Visitor } from '../api/visitor.js';
import { startPair } from '../support/cluster-pair.js';
import type { Pair } from '../support/cluster-pair.js';
import { startManagedOllama } from '../support/local-servers/managed-ollama.js';
import { usePostgres } from '../support/postgres.js';
import { until } from '../support/until.js';

const server = usePostgres();

async function visitorOf({ near }: Pair, member: string): Promise<Visitor> {
  await near.admin('user.password', { member, password: PASSWORD });
  return visitAgain(near, member);
}

test('is answered, for themselves alone, until the other coordinator stops', async () => {
  const ollama = await startManagedOllama();
  onTestFinished(() => ollama.server.close());
  ollama.models.set('mine:latest', 5_000);
  ollama.library.set('new:1b', { layers: [2_000] });
  const databaseUrl = await server().createDatabase();
  onTestFinished(() => server().dropDatabase(databaseUrl));
  const pair = await startPair(databaseUrl);
  const service = { backend: 'ollama', baseUrl: ollama.baseUrl };
  await pair.startAgent([service], 'den-pc', { ...MANAGED, minFreeBytes: 0 });
  const anna = await visitorOf(pair, 'anna@example.org');
  const provider = (await readMy(anna, 'provider.list', {}))[0]?.id ?? '';
  expect(await readMy(anna, 'provider.models', { provider })).toMatchObject({
    state: 'on',
    servers: [{ models: [{ name: 'mine:latest' }] }],
  });
  expect(await readMy(anna, 'provider.gpu-day', { provider })).toMatchObject({
    state: 'on',
    cards: [],
    day: { watches: false, own_slots: { mean: [] } },
  });
  await my(anna, 'provider.model-pull', { provider, service: 'llm-0', model: 'new:1b' });
  await until(() => ollama.models.has('new:1b'));
  const query = { since_s: null, actor: null, subject: provider, limit: 50 };
  await until(async () => {
    const log = await pair.near.admin('audit.list', { ...query, action: 'provider.model-pull' });
    return log.some(({ after }) => after?.['outcome'] === 'done');
  });
  const email = 'ben@example.org';
  await pair.near.admin('user.create', { email, name: 'Ben', admin: true, password: null });
  const ben = await visitorOf(pair, email);
  expect((await ask(ben, ['my', 'provider.models'], { provider })).status).toBe(404);
  expect((await ask(ben, ['my', 'provider.gpu-day'], { provider })).status).toBe(404);
  await pair.far.stop();
  const told = await until(async () => {
    const now = await readMy(anna, 'provider.models', { provider });
    return now.state === 'offline' && now;
  });
  expect(told).toEqual({ state: 'offline' });
});
