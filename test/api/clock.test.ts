/**
 * The coordinator has one clock: with one that is half an hour ahead, no time that it stores is the
 * machine's own.
 */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import type { Clock } from '@inference-gateway/shared/clock';
import { expect, it, onTestFinished } from 'vitest';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { startStudio } from '../support/studio.js';
import { temporaryFolder } from '../support/temporary-folder.js';
import { query } from '../support/usage-rows.js';
import { joinAndLogOut } from './account-calls.js';
import type { Sent } from './account-calls.js';
import { my, readMy } from './console-calls.js';
import { enrolTwice, logInAsDevice } from './device-calls.js';
import {
  accepted,
  act,
  BATCHES,
  chatItem,
  ended,
  JOBS,
  pauseQueue,
  submitBatch,
  submitted,
} from './job-calls.js';
import type { BatchBody } from './job-calls.js';
import { draw, speak } from './media-calls.js';
import type { ImageList } from './media-calls.js';
import { CHAT, chat, post } from './requests.js';
import { visit } from './visitor.js';

const AHEAD_MS = 1_800_000;
const AHEAD: Clock = { ...SYSTEM_CLOCK, now: () => Date.now() + AHEAD_MS };
const MODEL = 'm';

it('stores no time but that of its clock', { timeout: 60_000 }, async () => {
  const dataDir = await temporaryFolder();
  const gateway = await startGateway({
    dataDir,
    clock: AHEAD,
    webhookPrivate: true,
  });
  const from = Date.now();
  await useAccounts(gateway);
  await useModels(gateway);
  // Writes what waits in memory.
  await gateway.stop();
  const written = timesOf(gateway);
  // Made before the gateway started.
  const later = written.filter(({ at }) => at >= from);
  expect(new Set(later.map(({ table }) => table)).size).toBeGreaterThan(15);
  expect(later.filter(({ at }) => at < from + AHEAD_MS)).toEqual([]);
});

/** Members, keys, machines, networks and shares, as the dashboard and agents change them. */
async function useAccounts(gateway: TestGateway): Promise<void> {
  const call = ({ path, ...init }: Sent): Promise<Response> =>
    fetch(`${gateway.address}${path}`, init);
  await joinAndLogOut(gateway, call);
  await logInAsDevice(gateway, call);
  await enrolTwice(gateway, call);
  const anna = await visit(gateway, gateway.anna.email);
  const { id: network } = await my(anna, 'network.create', { name: 'friends' });
  await my(anna, 'network.add', { network, member: 'Ben' });
  const ben = await visit(gateway, gateway.ben.email);
  await my(ben, 'network.accept', { network });
  const [provider] = await readMy(anna, 'provider.list', {});
  const whole = { service: null, model: null, user: null, network };
  const caps = { slots: null, hours: null, time_zone: null, max_tokens: null };
  await my(anna, 'provider.share', { provider: provider?.id ?? '', ...whole, ...caps });
  await my(anna, 'provider.block', { member: gateway.ben.id });
}

/** Calls, jobs and files of every outcome. */
async function useModels(gateway: TestGateway): Promise<void> {
  const studio = await startStudio(gateway);
  onTestFinished(() => studio.fake.close());
  const fake = await startFakeOpenAi({ models: [MODEL] });
  onTestFinished(() => fake.close());
  await gateway.startAgent({ name: 'hall-pc', services: [{ type: 'llm', baseUrl: fake.baseUrl }] });
  await (await post(gateway, chat({ model: MODEL }), { path: CHAT })).text();
  await (await post(gateway, chat({ model: MODEL, stream: true }), { path: CHAT })).text();
  const { created } = (await (await draw(gateway)).json()) as ImageList;
  expect(created * 1_000).toBeGreaterThan(Date.now() + AHEAD_MS / 2);
  await (await speak(gateway)).arrayBuffer();
  const secret = `whsec_${Buffer.alloc(32).toString('base64')}`;
  const webhook = { url: 'http://127.0.0.1:9/', secret };
  const done = await submitted(gateway, { model: MODEL, webhook });
  expect((await ended(gateway, done.id)).status).toBe('PROCESSED');
  await pauseQueue(gateway);
  const waiting = await submitted(
    gateway,
    { model: MODEL },
    { headers: { 'idempotency-key': 'k' } },
  );
  await act(gateway, `${JOBS}/${waiting.id}/cancel`);
  await act(gateway, `${JOBS}/${waiting.id}/retry`);
  const batch = await accepted<BatchBody>(await submitBatch(gateway, [chatItem({ model: MODEL })]));
  await act(gateway, `${BATCHES}/${batch.id}/cancel`);
}

interface Time {
  readonly table: string;
  readonly column: string;
  /** Unix ms. */
  readonly at: number;
}

/** Every value of the database that is a time of this year, or an id with such a time. */
function timesOf(gateway: TestGateway): Time[] {
  const tables = query<{ name: string }>(
    gateway,
    "select name from sqlite_schema where type = 'table' and name not like 'sqlite_%'",
  );
  return tables.flatMap(({ name: table }) =>
    query<Record<string, unknown>>(gateway, `select * from ${table}`).flatMap((row) =>
      Object.entries(row).flatMap(([column, value]) => {
        const at = timeOf(value);
        return at !== null && Math.abs(at - Date.now()) < YEAR_MS ? [{ table, column, at }] : [];
      }),
    ),
  );
}

const YEAR_MS = 365 * 86_400_000;
const ALPHABET = '0123456789ABCDEFGHJKMNPQRSTVWXYZ';

function timeOf(value: unknown): number | null {
  if (typeof value === 'number') return value;
  if (typeof value !== 'string' || !/^[0-9A-HJKMNP-TV-Z]{26}$/.test(value)) return null;
  const digits = Array.from({ length: 10 }, (_, i) => ALPHABET.indexOf(value.charAt(i)));
  return digits.reduce((sum, digit) => sum * 32 + digit, 0);
}
