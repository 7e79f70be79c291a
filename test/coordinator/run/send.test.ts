/** The request that is sent for a call or a job, and the bounds on its answer's tokens. */
import type { OpenRequest } from '@inference-gateway/coordinator/core/routing/links';
import { NO_TOKENS } from '@inference-gateway/coordinator/core/usage/usage-bounds';
import { resume, send } from '@inference-gateway/coordinator/run/send';
import type { Sending } from '@inference-gateway/coordinator/run/send';
import type { Sink, Work } from '@inference-gateway/coordinator/run/work';
import { describe, expect, it } from 'vitest';
import { makeChoice } from '../../support/candidate.js';

const JOB = { jobId: 'job-1', claimId: 'claim-1' };
const EXCHANGE = { consumed: () => {}, cancel: () => {}, acknowledge: () => {} };
const SINK: Sink = {
  committed: false,
  begin: () => {},
  part: () => null,
  data: () => null,
  end: () => null,
};

function chat(fields: object = {}): Work {
  return {
    requestId: 'req_1',
    caller: { memberId: 'anna', memberName: 'Anna' },
    endpoint: 'chat',
    model: 'm',
    body: Buffer.from(JSON.stringify({ model: 'm', messages: [], ...fields })),
    uploads: [],
    slots: 1,
    asked: { sequences: 1, maxTokens: null },
    receivedAt: performance.now(),
    signal: new AbortController().signal,
  };
}

/** `most`: the share's limit of tokens for one answer; null if the owner calls. */
function sendTo(most: number | null, change: Partial<Sending> = {}) {
  const opened: OpenRequest[] = [];
  const choice = makeChoice();
  const shareId = most === null ? null : 'share-1';
  const sent = send({
    work: chat(),
    choice: { ...choice, grant: { ...choice.grant, shareId, maxTokens: most } },
    sink: SINK,
    attempt: 1,
    job: null,
    spent: null,
    timing: { deadlineMs: 60_000, isCallers: false, stream: null },
    open: (request) => {
      opened.push(request);
      return EXCHANGE;
    },
    ...change,
  });
  return { sent, opened, body: JSON.parse(String(opened[0]?.body ?? 'null')) as unknown };
}

describe.each([
  ['call', null],
  ['job', JOB],
])('the OPEN of a %s', (_, job) => {
  it('names the work, its caller and its attempt', () => {
    const [request] = sendTo(null, { job, attempt: 2 }).opened;
    expect(request).toMatchObject({
      job,
      endpoint: 'chat',
      model: 'm',
      caller: { name: 'Anna', own: true },
      memberId: 'anna',
      uploads: [],
      sequences: 1,
      attempt: 2,
      requestId: 'req_1',
    });
  });

  it('asks for no more tokens than the share gives', () => {
    const { body, opened } = sendTo(50, { job, work: chat({ max_tokens: 900 }) });
    expect(body).toMatchObject({ max_tokens: 50 });
    expect(opened[0]?.caller.own).toBe(false);
  });

  it('asks for what its caller asks where the share gives more', () => {
    const { body } = sendTo(1_000, { job, work: chat({ max_tokens: 900 }) });
    expect(body).toMatchObject({ max_tokens: 900 });
  });

  it('gives its agent the time that is left', () => {
    const work = { ...chat(), receivedAt: performance.now() - 50_000 };
    const deadlineMs = sendTo(null, { job, work }).opened[0]?.deadlineMs ?? 0;
    expect(deadlineMs).toBeGreaterThan(0);
    expect(deadlineMs).toBeLessThanOrEqual(10_000);
  });

  it('has tokens that are held to the cap, and to the answers that the cap leaves', async () => {
    const work = { ...chat({ n: 8 }), asked: { sequences: 8, maxTokens: null } };
    const { sent, body } = sendTo(2, { job, work });
    expect(body).toMatchObject({ n: 2, max_tokens: 1 });
    sent?.attempt.head({ status: 200, contentType: 'application/json' });
    sent?.attempt.data(Buffer.alloc(1_000));
    sent?.attempt.end({
      usage: { prompt_tokens: 1, completion_tokens: 500, total_tokens: 501 },
    });
    expect(await sent?.attempt.metered).toMatchObject({ completionTokens: 2, estimated: true });
  });
});

it('a stream is told no deadline, and the way by which its caller reads thoughts', () => {
  const timing = {
    deadlineMs: 60_000,
    isCallers: false,
    stream: { firstByteMs: 1_000, idleMs: 1_000 },
  };
  const work: Work = { ...chat(), reasoningField: 'reasoning_content' };
  const { sent, opened } = sendTo(null, { work, timing });
  expect(opened[0]).toMatchObject({ deadlineMs: 0, reasoningField: 'reasoning_content' });
  sent?.attempt.fail({ kind: 'disconnected' });
});

it('work whose slot has gone is not begun', () => {
  expect(sendTo(null, { open: () => null }).sent).toBeNull();
});

it('an answer that is no text has no tokens, whatever its agent says', async () => {
  const work: Work = { ...chat(), endpoint: 'images', asked: null };
  const { sent } = sendTo(null, { work });
  const usage = { prompt_tokens: 9, completion_tokens: 9, total_tokens: 18 };
  sent?.attempt.head({ status: 200, contentType: 'multipart/mixed' });
  sent?.attempt.end({ usage });
  expect(await sent?.attempt.metered).toEqual({ ...NO_TOKENS, energyJ: null });
});

it.each([
  ['the bytes of its request', { bytes: 100, media: 0, mediaBytes: 0 }, 100 + 2_048],
  ['nothing but the most of any call, where that is not known', null, 10_000_000],
])('an answer that is brought back has tokens that are held to %s', async (_, size, most) => {
  const { model, receivedAt, signal } = chat();
  const attempt = resume({
    work: { endpoint: 'chat', model, receivedAt, signal },
    provider: { providerId: 'den', providerName: 'den' },
    sink: SINK,
    attempt: 1,
    timing: { deadlineMs: 60_000, isCallers: false, stream: null },
    size,
    ranMs: 0,
  });
  attempt.begin(EXCHANGE);
  attempt.head({ status: 200, contentType: 'application/json' });
  attempt.data(Buffer.alloc(1_000));
  const usage = { prompt_tokens: 99_000_000, completion_tokens: 20, total_tokens: 99_000_020 };
  attempt.end({ usage });
  expect(await attempt.metered).toMatchObject({ promptTokens: most, completionTokens: 20 });
});
