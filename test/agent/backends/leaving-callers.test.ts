/** The caller leaves: what the local server notices of it, and how soon its card is free. */
import type { Backend, LocalAnswer, LocalCall } from '@inference-gateway/agent/backends/backend';
import { BACKENDS } from '@inference-gateway/agent/backends/create-backend';
import { describe, expect, test } from 'vitest';
import { computing } from '../../support/fake-behaviours.js';
import type { Looks } from '../../support/fake-behaviours.js';
import { drain as drainFiles } from '../../support/local-call.js';
import { until } from '../../support/until.js';
import { KINDS } from './conformance-kinds.js';
import { chat, drain, startStage } from './conformance-stage.js';
import { LEAVING, wayOf } from './leaving-kinds.js';
import type { Way } from './leaving-kinds.js';
import { MEDIA_KINDS } from './media-kinds.js';
import type { CardWork } from './media-stages.js';
import { VECTOR_KINDS } from './vector-kinds.js';

/** Far longer than a test: a test that waits for it fails. */
const COMPUTES_MS = 30_000;
/** What cannot be stopped. */
const OUTLIVES_MS = 250;
const FREE_WITHIN_MS = 1_000;

/** For which calls the server itself notices that its caller has left. */
const LOOKS: Readonly<Record<Way, Looks>> = {
  closed: 'always',
  streamed: 'streams',
  called: 'never',
  outlived: 'never',
};

const TEXT_KINDS = KINDS.map((kind) => ({ ...kind, way: wayOf({ ...kind, type: 'llm' }) }));
const TEXT_CALLS = [
  ['a plain call of chat', 'chat', {}],
  ['a plain call of completions', 'completions', { prompt: 'Go on.' }],
  ['a stream', 'chat', { stream: true }],
] as const;

describe.each(TEXT_KINDS)('$name, $way', (kind) => {
  const { way } = kind;

  test.each(TEXT_CALLS)('%s', async (_name, endpoint, fields) => {
    const behaviour = computing(computesMs(way), LOOKS[way]);
    const { backend } = await startStage(kind, { behaviour });
    const card: CardWork = {
      hasBegun: () => behaviour.computations.length === 1,
      hasEnded: () => typeof behaviour.computations[0]?.endedAt === 'number',
      stops: () => [],
    };
    await leaves({ backend, call: { ...chat(fields), endpoint }, card, way });
    expect(behaviour.computations).toHaveLength(1);
  });
});

const FOLDING = TEXT_KINDS.filter(({ way }) => way === 'streamed');

test.each(FOLDING)(
  'what $name does not stream as it answers plainly is asked plainly',
  async (kind) => {
    const { backend, fake } = await startStage(kind);
    const tools = [{ type: 'function', function: { name: 'f' } }];
    await backend.call(chat({ logprobs: true, tools }));
    expect(fake.lastRequest.body['stream']).not.toBe(true);
    expect(fake.lastRequest.body).not.toHaveProperty('stream_options');
  },
);

/** By which call; of a job that waits, see the tests of each. */
const STOPS: Readonly<Record<string, string>> = {
  automatic1111: '/sdapi/v1/interrupt',
  comfyui: '/interrupt',
};

test.each(MEDIA_KINDS.map((kind) => ({ ...kind, way: wayOf(kind) })))(
  '$name, $way',
  async (kind) => {
    const { way } = kind;
    const { backend, call, work } = await kind.start();
    const card = work(computesMs(way), LOOKS[way]);
    await leaves({ backend, call: call(), card, way });
    const stop = way === 'called' ? STOPS[kind.backend] : undefined;
    expect(card.stops()).toEqual(stop === undefined ? [] : [stop]);
  },
);

test('every backend is told of, and tested', () => {
  expect(new Set(LEAVING.map(({ backend }) => backend))).toEqual(new Set(BACKENDS));
  const texts = TEXT_KINDS.map((kind) => ({ ...kind, type: 'llm' }));
  // Those of vectors are left in `vectors.test.ts`.
  const tested = [...texts, ...MEDIA_KINDS, ...VECTOR_KINDS];
  const isTested = ({ backend, type }: (typeof LEAVING)[number]): boolean =>
    tested.some((kind) => kind.backend === backend && kind.type === type);
  expect(LEAVING.filter((told) => !isTested(told))).toEqual([]);
});

interface Visit {
  readonly backend: Backend;
  readonly call: LocalCall;
  readonly card: CardWork;
  readonly way: Way;
}

/** The call is what holds the slot: it is over when the card is free, and not before. */
async function leaves({ backend, call, card, way }: Visit): Promise<void> {
  const leaving = new AbortController();
  const asked = backend.call({ ...call, signal: leaving.signal }).then(readAll);
  const wasFree = asked.then(card.hasEnded, card.hasEnded);
  const outcome = asked.catch((error: unknown) => error);
  await until(card.hasBegun);
  const reason = new Error('the caller left');
  const leftAt = performance.now();
  leaving.abort(reason);
  expect(await outcome).toBe(reason);
  if (way === 'outlived' || way === 'called') expect(await wasFree).toBe(true);
  await until(card.hasEnded, { timeoutMs: FREE_WITHIN_MS });
  if (way !== 'outlived') expect(performance.now() - leftAt).toBeLessThan(FREE_WITHIN_MS);
}

function computesMs(way: Way): number {
  return way === 'outlived' ? OUTLIVES_MS : COMPUTES_MS;
}

async function readAll(answer: LocalAnswer): Promise<unknown> {
  return answer.kind === 'media' ? drainFiles(answer) : drain(answer);
}
