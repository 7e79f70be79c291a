import { startDemoServer } from '@inference-gateway/agent/demo/server';
import { expect, it, onTestFinished } from 'vitest';
import { startProcessGateway } from '../support/process-gateway.js';
import { until } from '../support/until.js';

const SECRET = 'xylophone-prompt-4711';

interface LogLine {
  readonly req?: string;
  readonly msg: string;
  readonly ip?: string;
  readonly model?: string;
}

const linesOf = (log: string): LogLine[] =>
  log
    .split('\n')
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line) as LogLine);

it('both logs name the request, and neither holds a prompt, an output or a key', async () => {
  const demo = await startDemoServer();
  onTestFinished(() => demo.close());
  const service = { type: 'llm', backend: 'openai', base_url: demo.baseUrl };
  const { gateway, coordinator } = await startProcessGateway([service], {
    GATEWAY_TRUST_PROXY: '1',
    GATEWAY_LOG_LEVEL: 'debug',
  });
  const agent = gateway.startAgent();
  await agent.online;
  const ask = async (model: string) => {
    const response = await fetch(`${gateway.url}/v1/chat/completions`, {
      method: 'POST',
      headers: {
        authorization: `Bearer ${gateway.key}`,
        'content-type': 'application/json',
        'x-forwarded-for': '198.51.100.1, 203.0.113.9',
      },
      body: JSON.stringify({ model, messages: [{ role: 'user', content: SECRET }] }),
    });
    await response.text();
    return response.headers.get('x-request-id') ?? '';
  };
  const path = '/api/inference/assets/aaaaaaaaaaaaaaaaaaaaaa/';
  await fetch(`${gateway.url}${path}?expires=1&signature=${SECRET}`);
  const served = await ask('demo-chat');
  const refused = await ask('no-such-model');
  await until(() => linesOf(coordinator.output.stderr).some(({ req }) => req === refused));
  await until(() => linesOf(agent.output.stderr).some(({ req }) => req === served));
  const line = linesOf(coordinator.output.stderr).find(({ req }) => req === served);
  // One proxy is trusted: entries left of the address that it added are the caller's own claim.
  expect(line).toMatchObject({
    msg: 'request',
    status: 200,
    ip: '203.0.113.9',
    model: 'demo-chat',
    provider: expect.any(String),
    attempts: 1,
    outcome: 'ok',
  });
  for (const log of [coordinator.output.stderr, agent.output.stderr]) {
    expect(log).not.toContain(SECRET);
    expect(log).not.toContain(gateway.key);
    expect(log).not.toMatch(/gw[kaj]_[0-9A-Za-z]{20}/);
  }
});
