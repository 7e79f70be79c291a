/** The owner of a machine takes the card back while others use it. */
import { readFile, writeFile } from 'node:fs/promises';
import { setTimeout } from 'node:timers/promises';
import { describe, expect, onTestFinished, test } from 'vitest';
import { ended, submitted } from '../api/job-calls.js';
import { administer, chat, post } from '../api/requests.js';
import type { Caller } from '../api/requests.js';
import { fakeNvidiaSmi } from '../support/fake-nvidia-smi.js';
import type { FakeNvidiaSmi } from '../support/fake-nvidia-smi.js';
import { startHeldModel, startQuickModel } from '../support/held-model.js';
import type { HeldModel } from '../support/held-model.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { expectOk } from '../support/process-gateway.js';
import { FULL, expectSound, serviceOf, startStage } from '../support/process-stage.js';
import type { Stage } from '../support/process-stage.js';
import { startStranger } from '../support/strangers.js';
import { until } from '../support/until.js';

/** The issue's own number. */
const SOON_MS = 2_000;
const FLOOD = 4;
/** Of each of the callers, between an answer and the next call. */
const PACE_MS = FULL ? 15 : 60;

interface Home {
  readonly gateway: Stage;
  readonly smi: FakeNvidiaSmi;
  /** Ben, to whom Anna has given a share of both machines. */
  readonly ben: Caller;
  /** On `den`, which has the card: answers immediately; only Anna asks for `mine`. */
  readonly quick: FakeModelServer;
  /** On `den`: Ben's running job, which is never released. */
  readonly film: HeldModel;
  readonly jobId: string;
}

/** The job begins on `den`; then `laptop` joins, which serves all but `mine`, too. */
async function openHome(settings: object = {}): Promise<Home> {
  const { gateway } = await startStage();
  const smi = await fakeNvidiaSmi();
  const ben = await newMember(gateway);
  const quick = await startQuickModel('From the den.');
  const film = await startHeldModel('From the den.');
  const services = [serviceOf(quick, ['m', 'mine']), serviceOf(film.server, ['film'])];
  await gateway.enroll('den', services);
  await configure(gateway.configOf('den'), settings);
  const path = { PATH: `${smi.folder}:${process.env['PATH']}` };
  await gateway.startAgent('den', undefined, path).online;
  await share(gateway, 'den');
  const { id: jobId } = await submitted(ben, { model: 'film' });
  await until(() => film.server.requests.length === 1);
  // One slot, so that both machines have their part of Ben's calls.
  const narrow = serviceOf(await startQuickModel(), ['m'], { slots: 1 });
  const other = serviceOf(await startQuickModel('From the laptop.'), ['film']);
  await gateway.joined('laptop', [narrow, other]);
  await share(gateway, 'laptop');
  return { gateway, smi, ben, quick, film, jobId };
}

/** Adds these keys to the configuration. */
async function configure(file: string, settings: object): Promise<void> {
  const config: unknown = JSON.parse(await readFile(file, 'utf8'));
  await writeFile(file, JSON.stringify({ ...(config as object), ...settings }));
}

async function newMember(gateway: Stage): Promise<Caller> {
  const ben = { email: 'ben@example.org', name: 'Ben', admin: false, password: null };
  await administer(gateway, 'user.create', ben);
  const args = { user: 'Ben', name: 'test', scope: 'any', expires_in_s: null };
  const { key } = await administer(gateway, 'key.create', args);
  return {
    fetch: (path, init = {}) => {
      const headers = new Headers(init.headers);
      headers.set('authorization', `Bearer ${String(key)}`);
      return gateway.fetch(path, { ...init, headers });
    },
  };
}

async function share(gateway: Stage, provider: string): Promise<void> {
  const limits = { slots: null, hours: null, time_zone: null, max_tokens: null };
  const subject = { provider, service: null, model: null };
  await administer(gateway, 'provider.share', {
    ...subject,
    ...limits,
    network: null,
    user: 'Ben',
  });
}

/**
 * Ben asks for `m` again and again until the test ends; every call must be answered. The calls are
 * paced, so that they do not overload the machine of the test.
 */
function flood(ben: Caller): { readonly failed: number[]; readonly stop: () => Promise<void> } {
  const over = new AbortController();
  const failed: number[] = [];
  const one = async (): Promise<void> => {
    while (!over.signal.aborted) {
      const response = await post(ben, chat({ model: 'm' }));
      await response.arrayBuffer();
      if (response.status !== 200) failed.push(response.status);
      await setTimeout(PACE_MS);
    }
  };
  const all = Promise.all(Array.from({ length: FLOOD }, one));
  const stop = async (): Promise<void> => {
    over.abort();
    await all;
  };
  onTestFinished(stop);
  return { failed, stop };
}

function lastOfBen({ quick }: Home): number {
  return Math.max(
    ...quick.requests.filter(({ body }) => body['model'] === 'm').map(({ at }) => at),
  );
}

/** Ben's calls go on for so long after the moment, and none of them reaches the den any more. */
async function expectLeftAlone(home: Home, since: number): Promise<void> {
  await until(() => performance.now() > since + SOON_MS + 500);
  expect(lastOfBen(home) - since).toBeLessThan(SOON_MS);
}

async function expectOwnAnswered({ gateway, quick }: Home): Promise<void> {
  const response = await post(gateway, chat({ model: 'mine' }));
  expect(response.status).toBe(200);
  expect(quick.lastRequest.body['model']).toBe('mine');
}

async function expectHandedOver({ ben, film, jobId }: Home): Promise<void> {
  await until(() => film.server.aborts.length === 1);
  const job = await ended(ben, jobId);
  expect(job).toMatchObject({ status: 'PROCESSED', attempts: 1 });
  expect(JSON.stringify(job.result)).toContain('From the laptop.');
}

async function reasonAt({ gateway }: Home): Promise<unknown> {
  const { stdout } = expectOk(await gateway.agentCommand('den', 'status', '--json'));
  return (JSON.parse(stdout) as { owner_reason: unknown }).owner_reason;
}

describe('the card is its owner’s within 2 s, and what ran for others ends elsewhere:', () => {
  test('after "pause --now"', async () => {
    const home = await openHome();
    const { failed, stop } = flood(home.ben);
    await until(() => home.quick.requests.length > 20);
    const paused = await home.gateway.agentCommand('den', 'pause', '--now');
    const since = performance.now();
    expect(paused.code).toBe(0);
    await expectOwnAnswered(home);
    await expectHandedOver(home);
    await expectLeftAlone(home, since);
    await stop();
    expect(failed).toEqual([]);
    expectSound(home.gateway);
  });

  test('after a game has begun', async () => {
    const home = await openHome();
    const { failed, stop } = flood(home.ben);
    await until(() => home.quick.requests.length > 20);
    const since = performance.now();
    await home.smi.run({ pid: startStranger(), name: 'game', memoryMib: 6_000 });
    await expectHandedOver(home);
    await expectOwnAnswered(home);
    await expectLeftAlone(home, since);
    await stop();
    expect(failed).toEqual([]);
    expect(await reasonAt(home)).toEqual({ kind: 'card_in_use', program: 'game' });
    const resumed = await home.gateway.agentCommand('den', 'resume');
    expect(resumed.code).toBe(0);
    expect(resumed.stderr).toContain('in use by game');
    expectSound(home.gateway);
  });
});

test('what runs may finish, where the owner says so', async () => {
  const home = await openHome({ game_mode: { running: 'finish' } });
  await home.smi.run({ pid: startStranger(), name: 'game', usePercent: 60 });
  await until(async () => (await reasonAt(home)) !== null);
  expect(home.film.server.aborts).toEqual([]);
  home.film.release();
  const job = await ended(home.ben, home.jobId);
  expect(job).toMatchObject({ status: 'PROCESSED', attempts: 1 });
  expect(JSON.stringify(job.result)).toContain('From the den.');
});

test('the local server itself may use the card as it likes', async () => {
  const home = await openHome();
  // The test's own process listens for it.
  await home.smi.run({ pid: process.pid, name: 'node', usePercent: 90, memoryMib: 20_000 });
  await home.smi.load(90);
  const { stop } = flood(home.ben);
  const startedAt = performance.now();
  await until(() => performance.now() > startedAt + 2 * SOON_MS);
  await stop();
  expect(home.film.server.aborts).toEqual([]);
  expect(await reasonAt(home)).toBeNull();
});
