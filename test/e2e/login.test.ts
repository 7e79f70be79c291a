/** A machine that is let in by its code, with both programs as processes. */
import { readFile, writeFile } from 'node:fs/promises';
import { expect, onTestFinished, test } from 'vitest';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { expectOk } from '../support/process-gateway.js';
import { serviceOf, startStage } from '../support/process-stage.js';
import { startProgram } from '../support/program.js';
import { until } from '../support/until.js';

test('a machine logs in, is approved, comes online and serves', async () => {
  const { gateway } = await startStage({ GATEWAY_PROVIDER_APPROVAL: 'true' });
  const model = await startFakeOpenAi();
  onTestFinished(() => model.close());
  const config = gateway.configOf('den-pc');
  const args = ['login', '--url', gateway.url, '--name', 'den-pc', '--config', config];
  const login = startProgram('gateway-agent', args);
  const shown = / is ([B-Z]{4}-[B-Z]{4})\./;
  await until(() => shown.test(login.output.stderr), { what: 'the code', timeoutMs: 30_000 });
  const code = shown.exec(login.output.stderr)?.[1] ?? '';
  const doubtful = await gateway.admin('device', 'approve', code, '--owner', 'Anna');
  expect([doubtful.code, doubtful.stderr.includes('den-pc')]).toEqual([2, true]);
  expectOk(await gateway.admin('device', 'approve', code, '--owner', 'Anna', '--yes'));
  const { stdout } = expectOk(await login.finished);
  expect(stdout).toBe(`enrolled as den-pc at ${gateway.url}\n`);
  const written = JSON.parse(await readFile(config, 'utf8')) as object;
  const services = [serviceOf(model, ['tiny'])];
  await writeFile(config, JSON.stringify({ ...written, services }));
  expect(await gateway.startAgent().online).toBe('den-pc');
  const messages = [{ role: 'user' as const, content: 'hello' }];
  const answer = await gateway.client.chat.completions.create({ model: 'tiny', messages });
  expect(answer.choices).toHaveLength(1);
}, 60_000);
