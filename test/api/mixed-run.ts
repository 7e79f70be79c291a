/** A run of requests of every kind, valid and invalid, by several members with several keys. */
import { expect } from 'vitest';
import type { CountingServer } from '../support/counting-server.js';
import type { TestGateway } from '../support/gateway.js';
import { silentWav } from '../support/sound.js';
import { until } from '../support/until.js';
import { IMAGES_PATH, SPEECH_PATH } from './media-calls.js';
import { CHAT } from './requests.js';

export const REQUESTS = 500;
const AT_ONCE = 10;

export const OUTCOMES = ['ok', 'failed', 'canceled'] as const;

type Outcome = (typeof OUTCOMES)[number];

/** One kind of request, and the outcome that its caller must see. */
interface Kind {
  readonly path: string;
  readonly body: (i: number) => object | FormData;
  /** Null: refused before any work on it, and so not metered. */
  readonly outcome: Outcome | null;
}

const user = (content: string) => [{ role: 'user', content }];
const chatOf = (
  text: (i: number) => string,
  fields: object = {},
  outcome: Outcome = 'ok',
): Kind => ({
  path: CHAT,
  body: (i) => ({ model: 'tiny', messages: user(text(i)), ...fields }),
  outcome,
});
const speechOf = (input: (i: number) => string, outcome: Outcome = 'ok'): Kind => ({
  path: SPEECH_PATH,
  body: (i) => ({ model: 'kokoro', input: input(i) }),
  outcome,
});
const imagesOf = (fields: object, outcome: Outcome = 'ok'): Kind => ({
  path: IMAGES_PATH,
  body: () => ({ model: 'sd', prompt: 'draw', ...fields }),
  outcome,
});

const say = (i: number): string => `say ${1 + (i % 20)}`;
/** Length of each transcribed recording. Unit: seconds. */
export const HEARD_SECONDS = 1.5;

const KINDS: readonly Kind[] = [
  chatOf(say),
  chatOf(say, { stream: true }),
  chatOf(say, { stream: true, stream_options: { include_usage: true } }),
  {
    path: '/v1/completions',
    body: (i) => ({ model: 'tiny', prompt: say(i), stream: i % 2 === 0 }),
    outcome: 'ok',
  },
  { path: '/v1/audio/transcriptions', body: recording, outcome: 'ok' },
  speechOf(say),
  imagesOf({ n: 1 }),
  imagesOf({ n: 3, response_format: 'b64_json' }),
  imagesOf({ n: 9 }),
  chatOf((i) => `fail ${i}`, {}, 'failed'),
  speechOf((i) => `fail ${i}`, 'failed'),
  imagesOf({ prompt: 'page' }, 'failed'),
  chatOf(say, { model: 'unknown' }, 'failed'),
  speechOf((i) => `hang ${i}`, 'canceled'),
  chatOf((i) => `hang ${i}`, {}, 'canceled'),
  chatOf((i) => `hang ${i}`, { stream: true }, 'canceled'),
  { path: IMAGES_PATH, body: () => ({ model: 'sd' }), outcome: null },
];

/** Number of requests that are refused before any work on them. */
export const REFUSED = KINDS.reduce((sum, { outcome }, at) => {
  const count = Math.floor((REQUESTS - 1 - at) / KINDS.length) + 1;
  return outcome === null ? sum + count : sum;
}, 0);

export interface RunKey {
  readonly id: string;
  /** The key itself. */
  readonly secret: string;
  readonly memberId: string;
}

interface Run {
  readonly gateway: TestGateway;
  readonly keys: readonly RunKey[];
  readonly servers: readonly CountingServer[];
}

/** Returns the number of answers that callers saw, by key id and outcome. */
export async function runMixed(run: Run): Promise<ReadonlyMap<string, number>> {
  const seen = new Map<string, number>();
  let next = 0;
  const work = async (): Promise<void> => {
    for (let i = next++; i < REQUESTS; i = next++) {
      const group = await ask(run, i);
      if (group !== null) seen.set(group, (seen.get(group) ?? 0) + 1);
    }
  };
  await Promise.all(Array.from({ length: AT_ONCE }, work));
  return seen;
}

async function ask(run: Run, i: number): Promise<string | null> {
  const kind = KINDS[i % KINDS.length] as Kind;
  const key = run.keys[Math.floor(i / KINDS.length) % run.keys.length] as RunKey;
  const outcome = await outcomeOf(run, i, { kind, key });
  expect(outcome, `request ${i}`).toBe(kind.outcome);
  return outcome === null ? null : `${key.id} ${outcome}`;
}

async function outcomeOf(
  { gateway, servers }: Run,
  i: number,
  { kind: { path, body, outcome }, key }: { kind: Kind; key: RunKey },
): Promise<Outcome | null> {
  const departure = new AbortController();
  const asked = body(i);
  const isForm = asked instanceof FormData;
  const call = gateway.fetch(path, {
    method: 'POST',
    signal: departure.signal,
    body: isForm ? asked : JSON.stringify(asked),
    headers: {
      authorization: `Bearer ${key.secret}`,
      ...(!isForm && { 'content-type': 'application/json' }),
    },
  });
  if (outcome === 'canceled') {
    call.catch(() => {});
    await until(() => servers.some(({ hung }) => hung.includes(`hang ${i}`)));
    departure.abort();
    return 'canceled';
  }
  const response = await call;
  await response.arrayBuffer();
  if (response.status === 400) return null;
  return response.ok ? 'ok' : 'failed';
}

function recording(): FormData {
  const form = new FormData();
  form.set('file', new Blob([new Uint8Array(silentWav(HEARD_SECONDS))]), 'a.wav');
  form.set('model', 'whisper');
  return form;
}
