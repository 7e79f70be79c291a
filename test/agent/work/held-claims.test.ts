/** A job from its OPEN to its last word, without a socket. */
import { HeldClaims } from '@inference-gateway/agent/work/held-claims';
import type { HeldJob } from '@inference-gateway/agent/work/held-job';
import { JobStream } from '@inference-gateway/agent/work/job-stream';
import { Spool } from '@inference-gateway/agent/work/spool';
import { createLogger } from '@inference-gateway/shared/program/logger';
import { LinkStream } from '@inference-gateway/shared/protocol/link';
import type { AgentMessage } from '@inference-gateway/shared/protocol/messages';
import { LINK } from '@inference-gateway/shared/protocol/version';
import { LinkWriter } from '@inference-gateway/shared/protocol/writer';
import { describe, expect, test } from 'vitest';
import { until } from '../../support/until.js';
import { openWork } from './work-stage.js';

const DATA_HEADER_BYTES = 8;

/** A job with a body of two bytes that has been let in. */
function acceptedJob() {
  const [logger, now] = [createLogger('silent'), Date.now];
  const claims = new HeldClaims({ spool: new Spool({ folder: null, now, logger }), now, logger });
  const ids = { kind: 'job', job_id: 'job-1', claim_id: 'claim-1' } as const;
  const { open } = openWork([], { ...ids, endpoint: 'chat' }).work;
  const { job, run } = claims.open(open);
  const { stream, said } = streamOf(job);
  run.accept();
  return { claims, job, run, stream, said };
}

/** A stream with the job's answer, and the messages on it: tags, and the bytes as text. */
function streamOf(job: HeldJob) {
  const said: string[] = [];
  const control = (frame: string | Uint8Array): void => {
    if (typeof frame === 'string') said.push((JSON.parse(frame) as AgentMessage).t);
    else said.push(String(frame.slice(DATA_HEADER_BYTES)));
  };
  const wire = { send: control, bufferedBytes: () => 0, cork: () => {}, uncork: () => {} };
  const send = new LinkWriter(wire, LINK.agentHighWaterBytes).open(1, LINK.windowBytes);
  const stream = new LinkStream<AgentMessage>(send, {
    control,
    readsMessageFrames: () => false,
    closed: () => {},
  });
  return { stream: new JobStream(job, stream), said };
}

describe('ACCEPT', () => {
  test('comes once the request is whole', async () => {
    const { claims, stream, said } = acceptedJob();
    expect(claims.claims()).toEqual([{ claim_id: 'claim-1', phase: 'running' }]);
    stream.receive(Buffer.from('{'));
    await Promise.resolve();
    expect(said).toEqual([]);
    stream.receive(Buffer.from('}'));
    await until(() => said.length > 0);
    expect(said).toEqual(['ACCEPT']);
  });

  test('comes before that where the line is slow, while the coordinator still waits', async () => {
    const { said } = acceptedJob();
    await until(() => said.includes('ACCEPT'), { timeoutMs: LINK.acceptTimeoutMs - 500 });
  });

  test('does not come for a job that was stopped', async () => {
    const { run, stream, said } = acceptedJob();
    run.stop('canceled');
    stream.receive(Buffer.from('{}'));
    run.fail('CANCELED', '');
    await expect(run.request.body).rejects.toBe('canceled');
    expect(said).toEqual(['RESET']);
  });
});

test('a claim is loading until its answer begins', () => {
  const { claims, run, said } = acceptedJob();
  run.progress('loading');
  expect(claims.claims()).toEqual([{ claim_id: 'claim-1', phase: 'loading' }]);
  expect(said).toEqual(['PROGRESS']);
  run.head(200, 'application/json');
  expect(claims.claims()).toEqual([{ claim_id: 'claim-1', phase: 'running' }]);
});

test('an answer is said again on the next stream, each file at its place', async () => {
  const { job, run, stream, said } = acceptedJob();
  stream.receive(Buffer.from('{}'));
  await until(() => said.includes('ACCEPT'));
  run.head(200, 'multipart/mixed');
  run.part({ contentType: 'image/png', revisedPrompt: null, bytes: noBytes() });
  await run.data(Buffer.from('first'));
  await until(() => said.includes('first'));
  stream.abandon();
  const next = streamOf(job);
  run.part({ contentType: 'image/png', revisedPrompt: 'a cat', bytes: noBytes() });
  await run.data(Buffer.from('second'));
  run.end({});
  await until(() => next.said.includes('END'));
  expect(said).toEqual(['ACCEPT', 'HEAD', 'PART', 'first']);
  expect(next.said).toEqual(['HEAD', 'PART', 'first', 'PART', 'second', 'END']);
});

test('nothing follows the last word', async () => {
  const { claims, run, said } = acceptedJob();
  run.head(200, 'application/json');
  run.end({});
  await run.data(Buffer.from('late'));
  run.fail('INTERNAL', 'late');
  await until(() => said.includes('END'));
  expect(said).toEqual(['HEAD', 'END']);
  expect(claims.offers()).toMatchObject([{ phase: 'spooled', bytes: 0 }]);
});

test('bytes beyond the credit end the job', () => {
  const { claims, run, stream, said } = acceptedJob();
  stream.receive(Buffer.alloc(LINK.windowBytes + 1));
  expect(said).toEqual(['RESET']);
  expect(run.signal.aborted).toBe(true);
  expect(claims.claims()).toEqual([]);
});

async function* noBytes(): AsyncGenerator<Uint8Array> {
  yield* [];
}
