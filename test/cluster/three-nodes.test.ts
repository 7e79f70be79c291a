/** Three coordinators on one PostgreSQL. */
import { expect, onTestFinished, test } from 'vitest';
import { startCluster } from '../support/cluster.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { usePostgres } from '../support/postgres.js';
import { until } from '../support/until.js';

const server = usePostgres();

test('a call at any node reaches an agent at any other', async () => {
  const databaseUrl = await server().createDatabase();
  onTestFinished(() => server().dropDatabase(databaseUrl));
  const fake = await startFakeOpenAi({ models: ['m'] });
  onTestFinished(() => fake.close());
  const cluster = await startCluster({ databaseUrl });
  const [north, south, west] = cluster.nodes;
  const service = { type: 'llm', backend: 'openai', base_url: fake.baseUrl, slots: 4 };
  await north.gateway.setUp([service], south.gateway.url);
  const agent = north.gateway.startAgent();
  await agent.online;
  for (const { gateway } of [north, south, west]) {
    gateway.key = north.gateway.key;
    const call = { model: 'm', messages: [{ role: 'user' as const, content: 'hello' }] };
    await until(async () => (await gateway.client.models.list()).data.length === 1);
    expect((await gateway.client.chat.completions.create(call)).choices).toHaveLength(1);
    let pieces = 0;
    for await (const { choices } of await gateway.client.chat.completions.create({
      ...call,
      stream: true,
    })) {
      pieces += choices.length;
    }
    expect(pieces).toBeGreaterThan(1);
  }
});
