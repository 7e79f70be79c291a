import { DATABASE_FILE } from '@inference-gateway/coordinator/store/open';
import { rename, stat } from 'node:fs/promises';
import { join } from 'node:path';
import { afterEach, beforeEach, describe, expect, it, onTestFinished } from 'vitest';
import { answer, dieMidStream, reply } from '../support/fake-behaviours.js';
import type { Behaviour } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { parsePrometheus, valueOf } from '../support/prometheus-text.js';
import type { Exposition } from '../support/prometheus-text.js';
import { openServedGateway } from '../support/served-gateway.js';
import type { ServedGateway } from '../support/served-gateway.js';
import { runCommand } from '../support/run-command.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { until } from '../support/until.js';
import { HeldAnswer } from './held-answer.js';
import { ended, submitted } from './job-calls.js';
import { openStream } from './open-stream.js';
import { chat, failureOf, post } from './requests.js';

const TOKEN = 'scrape-me-0123456789';
const DURATION = 'gen_ai_server_request_duration_seconds_count';
const FIRST_TOKEN = 'gen_ai_server_time_to_first_token_seconds_count';

function get(address: string | null, token?: string): Promise<Response> {
  const headers: Record<string, string> =
    token === undefined ? {} : { authorization: `Bearer ${token}` };
  return fetch(`${address}/metrics`, { headers });
}

async function scrape({ address }: TestGateway): Promise<Exposition> {
  const response = await get(address, TOKEN);
  expect(response.status).toBe(200);
  return parsePrometheus(await response.text());
}

describe('GET /metrics', () => {
  it('is 404 unknown_url where neither token nor port is set, even from loopback', async () => {
    const gateway = await startGateway();
    expect(gateway.metricsAddress).toBeNull();
    for (const token of [undefined, TOKEN, gateway.anna.key]) {
      const response = await get(gateway.address, token);
      expect(await failureOf(response)).toMatchObject({ status: 404, code: 'unknown_url' });
    }
  });

  it('takes its token, and nothing else', async () => {
    const gateway = await startGateway({ metricsToken: TOKEN });
    const missing = await get(gateway.address);
    expect(missing.headers.get('www-authenticate')).toBe('Bearer');
    expect(await failureOf(missing)).toMatchObject({ status: 401, code: 'missing_api_key' });
    for (const wrong of [`${TOKEN}x`, TOKEN.slice(0, -1), TOKEN.toUpperCase(), gateway.anna.key]) {
      const failure = await failureOf(await get(gateway.address, wrong));
      expect(failure).toMatchObject({ status: 401, code: 'invalid_api_key' });
      expect(failure.message).not.toContain(TOKEN);
    }
    const given = await get(gateway.address, TOKEN);
    expect(given.status).toBe(200);
    expect(given.headers.get('content-type')).toBe('text/plain; version=0.0.4; charset=utf-8');
  });

  it('is 405 by any other method', async () => {
    const gateway = await startGateway({ metricsToken: TOKEN });
    const response = await fetch(`${gateway.address}/metrics`, { method: 'POST' });
    expect(response.status).toBe(405);
  });

  it('on a port of its own needs no token, and the main port has none', async () => {
    const gateway = await startGateway({ metricsPort: 0 });
    expect(gateway.metricsAddress).toMatch(/^http:\/\/127\.0\.0\.1:\d+$/);
    expect(gateway.metricsAddress).not.toBe(gateway.address);
    const response = await get(gateway.metricsAddress);
    expect(parsePrometheus(await response.text()).types.get('gateway_slots')).toBe('gauge');
    expect((await get(gateway.address)).status).toBe(404);
  });

  it('on a port of its own needs the token where there is one', async () => {
    const gateway = await startGateway({ metricsPort: 0, metricsToken: TOKEN });
    expect((await get(gateway.metricsAddress)).status).toBe(401);
    expect((await get(gateway.metricsAddress, TOKEN)).status).toBe(200);
    expect((await get(gateway.address, TOKEN)).status).toBe(200);
  });

  it('is all that its own port has', async () => {
    const gateway = await startGateway({ metricsPort: 0 });
    for (const path of ['/', '/healthz', '/v1/models', '/metrics/x']) {
      const response = await fetch(`${gateway.metricsAddress}${path}`);
      expect(await failureOf(response)).toMatchObject({ status: 404, code: 'unknown_url' });
    }
  });

  it('ends with the gateway', async () => {
    const gateway = await startGateway({ metricsPort: 0 });
    await get(gateway.metricsAddress);
    await gateway.stop();
    await expect(get(gateway.metricsAddress)).rejects.toThrow('fetch failed');
  });
});

describe('what is counted', () => {
  let served: ServedGateway;
  let gateway: TestGateway;

  beforeEach(async () => {
    served = await openServedGateway({ metricsToken: TOKEN, rateLimitRequests: 20 });
    gateway = served.gateway;
  });

  afterEach(() => served.stop());

  const labels = { gen_ai_operation_name: 'chat', gen_ai_request_model: 'tiny' };

  it('a chat that succeeded, with the tokens that the caller was told', async () => {
    const { usage } = await gateway.client.chat.completions.create(chat());
    const found = await scrape(gateway);
    const ok = { endpoint: 'chat', outcome: 'ok', code: '' };
    expect(valueOf(found, 'gateway_requests_total', ok)).toBe(1);
    expect(valueOf(found, 'gateway_requests_total')).toBe(1);
    expect(valueOf(found, 'gateway_tokens_total', { type: 'input' })).toBe(usage?.prompt_tokens);
    const output = { type: 'output' };
    expect(valueOf(found, 'gateway_tokens_total', output)).toBe(usage?.completion_tokens);
    expect(valueOf(found, DURATION, labels)).toBe(1);
    expect(valueOf(found, FIRST_TOKEN)).toBeNull();
  });

  it('a stream, with the time to its first token', async () => {
    await (await openStream(gateway)).all();
    const found = await scrape(gateway);
    expect(valueOf(found, FIRST_TOKEN, labels)).toBe(1);
    expect(valueOf(found, 'gen_ai_server_time_per_output_token_seconds_count', labels)).toBe(1);
    const output = valueOf(found, 'gateway_tokens_total', { type: 'output' });
    expect(output).toBeGreaterThan(1);
    const token = { ...labels, gen_ai_token_type: 'output' };
    expect(valueOf(found, 'gen_ai_client_token_usage_sum', token)).toBe(output);
  });

  it('a stream that broke, without a time to its first token', async () => {
    served.fake.behave(dieMidStream());
    const { code } = await (await openStream(gateway)).failure();
    const found = await scrape(gateway);
    expect(valueOf(found, 'gateway_requests_total', { outcome: 'failed', code })).toBe(1);
    expect(valueOf(found, FIRST_TOKEN)).toBeNull();
  });

  it('a call that failed, under the code that its caller was told', async () => {
    served.fake.behave(reply(500, { error: { message: 'out of memory' } }));
    const { code } = await failureOf(await post(gateway, chat()));
    const found = await scrape(gateway);
    const failed = { endpoint: 'chat', outcome: 'failed', code };
    expect(valueOf(found, 'gateway_requests_total', failed)).toBe(1);
    expect(valueOf(found, DURATION, { ...labels, error_type: code })).toBe(1);
  });

  it('every attempt of a call whose provider was replaced', async () => {
    const second = await startFakeOpenAi();
    onTestFinished(() => second.close());
    await gateway.startAgent({ name: 'b-pc', services: [{ baseUrl: second.baseUrl }] });
    let asked = 0;
    const failOnce: Behaviour = (request, response) =>
      (asked++ === 0 ? reply(500, 'broken') : answer())(request, response);
    for (const fake of [served.fake, second]) fake.behave(failOnce);
    await gateway.client.chat.completions.create(chat());
    const found = await scrape(gateway);
    expect(valueOf(found, 'gateway_attempts_total', { endpoint: 'chat' })).toBe(2);
    expect(valueOf(found, 'gateway_replacements_total', { endpoint: 'chat' })).toBe(1);
    expect(valueOf(found, 'gateway_requests_total')).toBe(1);
  });

  it('a model that nobody serves as other: its name is whatever the caller made up', async () => {
    await post(gateway, chat({ model: 'made-up' }));
    const text = await (await get(gateway.address, TOKEN)).text();
    const found = parsePrometheus(text);
    const other = { gen_ai_request_model: 'other', error_type: 'model_not_found' };
    expect(valueOf(found, DURATION, other)).toBe(1);
    expect(text).not.toContain('made-up');
  });

  it('what a call takes while it is under way, and no longer', async () => {
    const held = new HeldAnswer();
    served.fake.behave(held.behaviour);
    const idle = await scrape(gateway);
    const stream = openStream(gateway);
    await held.asked();
    const during = await scrape(gateway);
    held.chunk('hi');
    held.finish();
    await (await stream).all();
    const after = await until(async () => {
      const found = await scrape(gateway);
      const busy = valueOf(found, 'gateway_slots', { service_type: 'llm', state: 'busy' });
      return busy === 0 ? found : null;
    });
    const figures = [idle, during, after].map((found) => [
      valueOf(found, 'gateway_calls_in_flight'),
      valueOf(found, 'gateway_slots', { service_type: 'llm', state: 'busy' }),
      valueOf(found, 'gateway_slots', { service_type: 'llm', state: 'free' }),
    ]);
    expect(figures).toEqual([
      [0, 0, 4],
      [1, 1, 3],
      [0, 0, 4],
    ]);
  });

  it('providers that are online', async () => {
    const agent = await gateway.startAgent({ name: 'b-pc', services: [] });
    expect(valueOf(await scrape(gateway), 'gateway_providers_online')).toBe(2);
    await agent.stop();
    await until(async () => valueOf(await scrape(gateway), 'gateway_providers_online') === 1);
  });

  it('requests that were one too many, and every status', async () => {
    for (let i = 0; i < 20; i++) await gateway.fetch('/v1/models');
    expect((await gateway.fetch('/v1/models')).status).toBe(429);
    expect((await fetch(`${gateway.baseUrl}/models`)).status).toBe(401);
    const found = await until(async () => {
      const now = await scrape(gateway);
      return valueOf(now, 'gateway_http_requests_total', { status: '401' }) === 1 ? now : null;
    });
    expect(valueOf(found, 'gateway_rate_limited_total')).toBe(1);
    expect(valueOf(found, 'gateway_http_requests_total', { status: '429' })).toBe(1);
  });

  it('jobs that wait, for how long, and the pause that makes them wait', async () => {
    await gateway.admin('queue.pause', {});
    const { id } = await submitted(gateway);
    const llm = { service_type: 'llm', state: 'queued' };
    const waiting = await until(async () => {
      const found = await scrape(gateway);
      return valueOf(found, 'gateway_oldest_queued_job_age_seconds') === 0 ? null : found;
    });
    expect(valueOf(waiting, 'gateway_jobs', llm)).toBe(1);
    expect(valueOf(waiting, 'gateway_queue_paused')).toBe(1);
    await gateway.admin('queue.resume', {});
    expect((await ended(gateway, id)).status).toBe('PROCESSED');
    const after = await scrape(gateway);
    expect(valueOf(after, 'gateway_jobs')).toBe(0);
    expect(valueOf(after, 'gateway_queue_wait_seconds_count', { kind: 'job' })).toBe(1);
    expect(valueOf(after, 'gateway_queue_wait_seconds_count', { kind: 'call' })).toBeNull();
    expect(valueOf(after, 'gateway_queue_paused')).toBe(0);
    expect(valueOf(after, 'gateway_oldest_queued_job_age_seconds')).toBe(0);
  });

  it('the ticks of the dispatcher, the space on the disk and the last backup', async () => {
    const found = await until(async () => {
      const now = await scrape(gateway);
      return valueOf(now, 'gateway_dispatcher_last_tick_timestamp_seconds') === 0 ? null : now;
    });
    const tick = valueOf(found, 'gateway_dispatcher_last_tick_timestamp_seconds') ?? 0;
    expect(Math.abs(Date.now() / 1000 - tick)).toBeLessThan(60);
    const { size } = await stat(join(gateway.dataDir, DATABASE_FILE));
    expect(valueOf(found, 'gateway_database_bytes', { file: 'database' })).toBe(size);
    const disk = valueOf(found, 'gateway_disk_bytes') ?? 0;
    expect(disk).toBeGreaterThan(size);
    expect(valueOf(found, 'gateway_disk_free_bytes')).toBeLessThanOrEqual(disk);
    expect(valueOf(found, 'gateway_assets_limit_bytes')).toBe(20 * 1024 ** 3);
    expect(valueOf(found, 'gateway_last_backup_timestamp_seconds')).toBe(0);
    const file = join(await temporaryFolder(), 'gateway.tar');
    const words = ['backup', '-o', file, '--data', gateway.dataDir];
    expect((await runCommand('gateway-coordinator', words)).code).toBe(0);
    const backedUpAt = valueOf(await scrape(gateway), 'gateway_last_backup_timestamp_seconds');
    expect(Math.abs(Date.now() / 1000 - (backedUpAt ?? 0))).toBeLessThan(60);
  });

  it('all the rest while the data folder cannot be read', async () => {
    const aside = `${gateway.dataDir}.aside`;
    await rename(gateway.dataDir, aside);
    const without = await scrape(gateway);
    await rename(aside, gateway.dataDir);
    expect(valueOf(without, 'gateway_disk_free_bytes')).toBeNull();
    expect(valueOf(without, 'gateway_providers_online')).toBe(1);
    expect(valueOf(await scrape(gateway), 'gateway_disk_free_bytes')).toBeGreaterThan(0);
  });

  it('nothing that tells who called, through whom, with what, or what was said', async () => {
    const messages = [{ role: 'user' as const, content: 'a private question' }];
    served.fake.behave(answer({ text: 'a private answer' }));
    await gateway.client.chat.completions.create({ model: 'tiny', messages });
    await (await openStream(gateway, { messages })).all();
    const text = await (await get(gateway.address, TOKEN)).text();
    expect(text).toContain('gen_ai_request_model="tiny"');
    const { id, key, keyId } = gateway.anna;
    for (const secret of [
      'private',
      'Anna',
      'example.org',
      'den-pc',
      id,
      key,
      keyId,
      'req_',
      TOKEN,
    ]) {
      expect(text).not.toContain(secret);
    }
  });
});
