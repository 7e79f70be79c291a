/** `gateway-agent doctor` beside a real coordinator, with and without an agent that runs. */
import { chmod } from 'node:fs/promises';
import type { Check } from '@inference-gateway/shared/program/check';
import { expect, onTestFinished, test } from 'vitest';
import { answer, hangBeforeHeaders } from '../../support/fake-behaviours.js';
import { startFakeOpenAi } from '../../support/fake-openai-server.js';
import { expectOk, startProcessGateway } from '../../support/process-gateway.js';
import type { ProcessGateway } from '../../support/process-gateway.js';
import { until } from '../../support/until.js';
import { examined } from './doctor-stage.js';

test('a sound machine passes unnoticed, and a running agent keeps its link', async () => {
  const server = await startFakeOpenAi({ behaviour: answer() });
  onTestFinished(() => server.close());
  const service = { id: 'llm-1', type: 'llm', backend: 'openai', base_url: server.baseUrl };
  const { gateway } = await startProcessGateway([{ ...service, slots: 2 }]);
  await chmod(`${gateway.configOf('den-pc')}.token`, 0o600);

  const stopped = await examine(gateway);
  expect(stopped.failed).toEqual([]);
  expect(stopped.code).toBe(0);
  expect(stopped.found('websocket_upgrade')).toBe('HTTP 101');
  expect(stopped.found('authorisation')).toBe('the token is accepted');
  expect(stopped.found('state_folder')).toContain('is made at the first start');
  expect(stopped.checks.map(({ id }) => id)).toEqual(ORDER);
  const [provider] = JSON.parse(
    expectOk(await gateway.admin('provider', 'list', '--json')).stdout,
  ) as { online: boolean; last_seen: number | null }[];
  expect(provider).toMatchObject({ online: false });

  const agent = gateway.startAgent();
  await agent.online;
  const running = await examine(gateway);
  expect(running.failed).toEqual([]);
  const link = `the running agent is online (process ${agent.child.pid})`;
  expect(running.found('websocket_upgrade')).toBe(link);
  expect(running.found('state_folder')).toContain(`an agent runs (process ${agent.child.pid})`);
  expect(running.status('test_call_llm-1')).toBe('PASS');
  expect(server.requests).toHaveLength(2);
  const status = expectOk(await gateway.agentCommand('den-pc', 'status', '--json')).stdout;
  expect(JSON.parse(status)).toMatchObject({ connection: 'online' });

  server.behave(hangBeforeHeaders());
  const leave = new AbortController();
  const chat = { model: 'tiny', messages: [{ role: 'user' as const, content: 'Hi' }] };
  const call = gateway.client.chat.completions
    .create(chat, { signal: leave.signal })
    .catch(() => undefined);
  await until(() => server.requests.length === 3);
  const busy = await examine(gateway);
  expect(busy.found('test_call_llm-1')).toBe('the agent is at work (requests under way: 1)');
  expect(server.requests).toHaveLength(3);
  leave.abort();
  await call;
  await until(() => server.aborts.length === 1);

  expectOk(await gateway.agentCommand('den-pc', 'pause'));
  const paused = await examine(gateway);
  expect(paused.status('test_call_llm-1')).toBe('SKIP');
  expect(paused.failed).toEqual([]);
  expect(server.requests).toHaveLength(3);
}, 120_000);

const ORDER = [
  'node_version configuration token state_folder dns tls proxy coordinator websocket_upgrade',
  'authorisation clock server_llm-1 test_call_llm-1 gpu ffmpeg spool_space',
].flatMap((line) => line.split(' '));

async function examine(gateway: ProcessGateway) {
  const { code, stdout, stderr } = await gateway.agentCommand('den-pc', 'doctor', '--json');
  return examined({ code, stderr, checks: JSON.parse(stdout) as Check[] });
}
