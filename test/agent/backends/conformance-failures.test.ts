/** How every backend of text models stops, and how it maps a server's failures. */
import { LocalFailure } from '@inference-gateway/agent/backends/backend';
import { describe, expect, test } from 'vitest';
import * as behave from '../../support/fake-behaviours.js';
import { until } from '../../support/until.js';
import { KINDS } from './conformance-kinds.js';
import { chat, drain, parse, startStage } from './conformance-stage.js';
import { wayOf } from './leaving-kinds.js';

const ABORT_LIMIT_MS = 1_000;

describe.each(KINDS)('$name', (kind) => {
  // What computes on is waited for until it answers: `leaving-callers.test.ts`.
  const isWaitedFor = wayOf({ ...kind, type: 'llm' }) === 'outlived';
  test.each([
    ...(isWaitedFor ? [] : [['a hang before headers', behave.hangBeforeHeaders()] as const]),
    ['a hang after headers', behave.hangAfterHeaders()],
    ['a hang after chunks', behave.hangAfterHeaders({ after: 2 })],
  ] as const)('an abort reaches the local server within a second: %s', async (_what, behaviour) => {
    const { backend, fake } = await startStage(kind, { behaviour });
    const leaving = new AbortController();
    const call = { ...chat({ stream: true }), signal: leaving.signal };
    const outcome = backend
      .call(call)
      .then(drain)
      .catch((error: unknown) => error);
    await until(() => fake.inFlight === 1 && fake.requests.length === 1);
    const reason = new Error('the caller left');
    const at = performance.now();
    leaving.abort(reason);
    const aborted = await until(() => fake.aborts[0]);
    expect((aborted.abortedAt ?? Infinity) - at).toBeLessThan(ABORT_LIMIT_MS);
    expect(await outcome).toBe(reason);
    expect(fake.inFlight).toBe(0);
  });

  test.each([
    ['dies in mid-stream', behave.dieMidStream(), true, /broke off/],
    [
      'dies before headers',
      (_: unknown, response: { destroy(): unknown }) => void response.destroy(),
      false,
      /broke off/,
    ],
    ['ends without finish', behave.noFinish(), true, /finish_reason/],
    ['says an error line', behave.errorLine('no memory'), true, /^no memory$/],
    ['sends an error event', behave.errorEvent('no memory'), true, /^no memory$/],
    ['names its files', behave.errorLine('cannot read /home/ann/x'), true, /^cannot read …$/],
    ['answers a page', behave.reply(200, '<html>', 'text/html'), true, /page|neither JSON/],
    ['answers nothing', behave.reply(200, ''), false, /neither JSON/],
    ['sends elsewhere', behave.reply(307, ''), false, /307/],
  ] as const)('a local server that %s is a failure', async (...[, behaviour, stream, message]) => {
    const { backend } = await startStage(kind, { behaviour });
    const failure = await failureOf(backend.call(chat({ stream })).then(drain));
    expect(failure).toMatchObject({
      code: 'LOCAL_ERROR',
      message: expect.stringMatching(message),
    });
  });

  test('a refused connection is told apart', async () => {
    const { backend, fake } = await startStage(kind);
    await fake.close();
    await expect(backend.call(chat({}))).rejects.toMatchObject({ code: 'LOCAL_UNREACHABLE' });
  });

  test.each([
    [500, behave.html500(), /^Internal Error$/],
    [503, behave.reply(503, { error: { message: 'Loading model', code: 503 } }), /^Loading model$/],
    [503, behave.reply(503, { detail: { msg: 'Server is busy' } }), /^Server is busy$/],
    [401, behave.reply(401, { error: { message: 'Invalid API Key' } }), /^Invalid API Key$/],
    [400, behave.reply(400, { error: 'bad request' }, 'text/plain'), /^bad request$/],
    [400, behave.reply(400, { object: 'error', message: 'no prompt' }), /^no prompt$/],
    // LM Studio's, with a status of success.
    [500, behave.reply(200, { error: 'Unexpected endpoint' }), /^Unexpected endpoint$/],
  ])(
    'status %i is an answer in OpenAI’s form, streamed or not',
    async (status, behaviour, message) => {
      const { backend } = await startStage(kind, { behaviour });
      for (const stream of [true, false]) {
        const answer = await backend.call(chat({ stream }));
        expect(answer).toMatchObject({ kind: 'document', status });
        expect(parse(answer)).toMatchObject({ error: { message: expect.stringMatching(message) } });
      }
    },
  );
});

const STREAMING = KINDS.filter(({ streams }) => streams);

test.each(STREAMING)('a stream of $name that nobody reads on is closed', async (kind) => {
  const behaviour = behave.chunks({ count: 1_000, delayMs: 5 });
  const { backend, fake } = await startStage(kind, { behaviour });
  const answer = await backend.call(chat({ stream: true }));
  if (answer.kind !== 'events') throw new Error('not a stream');
  await answer.events.next();
  await answer.events.return(null);
  await until(() => fake.aborts.length === 1, { timeoutMs: ABORT_LIMIT_MS });
});

// 33 MiB each: the three programs that speak to servers of text models are enough.
test.each(KINDS.slice(0, 3))('$name fails where an answer never ends', async (kind) => {
  const behaviour = behave.reply(200, `"${'x'.repeat(33 * 1024 * 1024)}"`);
  const { backend } = await startStage(kind, { behaviour });
  const failure = await failureOf(backend.call(chat({})));
  expect(failure).toMatchObject({
    code: 'LOCAL_ERROR',
    message: expect.stringContaining('more than 33554432 bytes'),
  });
});

async function failureOf(doing: Promise<unknown>): Promise<LocalFailure> {
  const outcome = await doing.catch((error: unknown) => error);
  if (outcome instanceof LocalFailure) return outcome;
  throw new Error('there was no failure', { cause: outcome });
}
