import { LargeBodies } from '@inference-gateway/coordinator/http/bodies/large-bodies';
import { beforeAll, describe, expect, it, onTestFinished } from 'vitest';
import { accepted, ended, getJson, BATCHES, chatItem, submitBatch } from '../api/job-calls.js';
import type { BatchBody } from '../api/job-calls.js';
import { openJobStage } from '../api/job-stage.js';
import type { JobStage } from '../api/job-stage.js';
import { chat, failureOf, post } from '../api/requests.js';
import { startFakeLlamaServer } from '../support/fake-openai-server.js';
import { heldBytes, MIB } from '../support/memory.js';
import { FULL } from '../support/process-stage.js';
import { until } from '../support/until.js';

const many = (count: number, item: string): string =>
  Array.from({ length: count }, () => item).join(',');

const picture = (url: string) => ({ type: 'image_url', image_url: { url } });
const sound = { type: 'input_audio', input_audio: { data: 'AA==', format: 'wav' } };

let stage: JobStage;

beforeAll(async () => {
  stage = await openJobStage();
  const modalities = { vision: false, audio: false, video: false };
  const routes = { '/props': { total_slots: 2, modalities } };
  const blind = await startFakeLlamaServer({ models: ['blind'], routes });
  const service = { baseUrl: blind.baseUrl, backend: 'llama-server' };
  await stage.gateway.startAgent({ name: 'blind-pc', services: [service] });
  return async () => {
    await stage.stop();
    await blind.close();
  };
});

/** What the local server was sent for it. */
async function sent(body: unknown): Promise<Readonly<Record<string, unknown>>> {
  expect((await post(stage.gateway, body)).status).toBe(200);
  return stage.fake.lastRequest.body;
}

describe('a large body', () => {
  const text = 'é"\\\n'.repeat(MIB / 4);
  const messages = [
    { role: 'system', content: 'short' },
    { role: 'user', content: text },
  ];

  it('reaches the local server as a small one does', async () => {
    const extra = { seed: 7, list: Array.from({ length: 6_000 }, (_, i) => i / 2), 9: 'nine' };
    const body = await sent(chat({ messages, max_tokens: 5, metadata: { Model: text }, ...extra }));
    expect(body).toEqual({
      ...chat({ messages, max_tokens: 5, metadata: { Model: text }, ...extra }),
      temperature: 0.7,
    });
  });

  it.each<[string, object]>([
    ['a name in another case', { messages: [{ role: 'user', Content: 'x' }] }],
    ['a value that is not allowed', { top_p: 2 }],
    ['a message without content', { messages: [{ role: 'user' }] }],
    [
      'a media address',
      { messages: [{ role: 'user', content: [picture('https://example.org')] }] },
    ],
    [
      'media that no model takes',
      { model: 'blind', messages: [{ role: 'user', content: [picture('data:,')] }] },
    ],
    [
      'sound that no model takes',
      { model: 'blind', messages: [{ role: 'user', content: [sound, sound] }] },
    ],
    ['too many answers', { n: 5_000 }],
    ['an unknown model', { model: 'nobody-has-it' }],
    ['a submission that is wrong', { async: true, temperature: 9 }],
    ['an async that is no boolean', { async: 'yes' }],
    ['a webhook without a secret', { async: true, webhook: { url: 'https://example.org' } }],
  ])('is refused as a small one is, for %s', async (_what, fields) => {
    const small = await failureOf(await post(stage.gateway, chat(fields)));
    const large = await failureOf(await post(stage.gateway, chat({ padding: text, ...fields })));
    expect(small.status).toBeGreaterThanOrEqual(400);
    expect(large).toEqual(small);
  });

  it('that is cut off is no JSON', async () => {
    const cut = JSON.stringify(chat({ messages })).slice(0, -1);
    expect(await failureOf(await post(stage.gateway, cut))).toMatchObject({ code: 'invalid_json' });
  });

  it('runs as a job, alone and in a batch', async () => {
    const job = (await (await post(stage.gateway, chat({ messages, async: true }))).json()) as {
      id: string;
    };
    expect(await ended(stage.gateway, job.id)).toMatchObject({ status: 'PROCESSED' });
    expect(stage.fake.lastRequest.body).toMatchObject({ messages });
    const items = [chatItem({ messages }), chatItem()];
    const { id } = await accepted<BatchBody>(await submitBatch(stage.gateway, items));
    await until(async () => {
      const batch = await getJson<BatchBody>(stage.gateway, `${BATCHES}/${id}`);
      return batch.status === 'DONE' && batch.processed === 2;
    });
    const wrong = [chatItem({ messages }), chatItem({ model: 5 })];
    expect(await failureOf(await submitBatch(stage.gateway, wrong))).toMatchObject({
      param: 'requests[1].body.model',
    });
  });

  it('may hold no long limit of tokens', async () => {
    const options = { num_predict: 5, padding: text };
    expect(await failureOf(await post(stage.gateway, chat({ messages, options })))).toMatchObject({
      status: 400,
      param: 'options',
    });
  });
});

const limits = { maxImages: 4, maxSpeechCharacters: 5_000 };
const question = {
  kind: 'request',
  endpoint: 'chat',
  api: null,
  limits,
  memberId: 'anna',
} as const;
const bodyOf = (inside: string): Buffer =>
  Buffer.from(`{"model":"m","messages":[{"role":"user","content":"x"}],"x":[${inside}]}`);
const middling = (): Buffer => bodyOf(many(20_000, '{}'));

const isRead = ({ status }: PromiseSettledResult<unknown>): boolean => status === 'fulfilled';

function open(): LargeBodies {
  const large = new LargeBodies();
  onTestFinished(() => large.close());
  return large;
}

describe('the loop is free while a large body is read', () => {
  // The largest that are let through: a second of work where tests run side by side.
  const WORST = [
    bodyOf(many(290_000, '{}')),
    bodyOf(many(140_000, '{"a":"b"}')),
    bodyOf(many(1_900_000, '0.123')),
    bodyOf(many(20, `"${'\\n'.repeat(MIB / 2)}"`)),
  ];

  it('whatever it holds', async () => {
    const large = open();
    for (const bytes of WORST) {
      const state = { turns: 0, isRead: false };
      const read = large.judgeRequest(bytes, question).finally(() => (state.isRead = true));
      while (!state.isRead) {
        await new Promise(setImmediate);
        state.turns += 1;
      }
      expect((await read).take().request.model).toBe('m');
      // Parsed here, it would have had none between the question and the answer.
      expect(state.turns).toBeGreaterThan(20);
    }
  });

  it('members take turns, and what is too much for the thread ends it alone', async () => {
    const large = open();
    const order: string[] = [];
    const read = async (memberId: string, bytes: Buffer): Promise<void> => {
      await large.judgeRequest(bytes, { ...question, memberId });
      order.push(memberId);
    };
    const anna = Array.from({ length: 4 }, () => read('anna', middling()));
    await Promise.all([...anna, read('ben', middling())]);
    expect(order.indexOf('ben')).toBeLessThan(3);
    await large.close();
    await expect(large.judgeRequest(middling(), question)).rejects.toMatchObject({
      code: 'capacity_exhausted',
    });
  });

  it('one member cannot take all the places of those that wait', async () => {
    const large = open();
    const read = (memberId: string): Promise<unknown> =>
      large.judgeRequest(bodyOf(''), { ...question, memberId });
    const annas = Promise.allSettled(Array.from({ length: 300 }, () => read('anna')));
    await expect(read('ben')).resolves.toBeDefined();
    // The first is under way, and 64 wait.
    expect((await annas).filter(isRead)).toHaveLength(65);
  });
});

/** What is in a body beside its question. */
const INSIDE: readonly (() => string)[] = [
  ...(FULL ? [() => `"${'x'.repeat(30 * MIB)}"`, () => `"${'\\n'.repeat(15 * MIB)}"`] : []),
  () => `[${many(290_000, '{}')}]`,
  () => `[${many(1_900_000, '0.12345678')}]`,
];
/** Of what one of them may leave in the memory of both programs and of the test. */
const MAX_GROWTH_BYTES = 8 * 30 * MIB;
/** The thread that reads them collects its garbage when it likes: a leak is there in each round. */
const ROUNDS = 4;

/** The agents' links, each by when it began. */
const link = async (): Promise<unknown> => {
  const providers = await stage.gateway.admin('provider.list', {});
  return providers.map(({ name, connected_at }) => ({ name, connected_at }));
};

/** Posts each of them; returns the most memory that was resident after one, without garbage. */
const postAll = async (): Promise<number> => {
  let most = 0;
  for (const make of INSIDE) {
    const text = JSON.stringify(chat()).replace(/}$/, `,"padding":${make()}}`);
    expect((await post(stage.gateway, text)).status).toBe(200);
    // The local server of the test keeps the request.
    stage.fake.requests.length = 0;
    heldBytes();
    most = Math.max(most, process.memoryUsage().rss);
  }
  return most;
};

describe('the worst bodies, one after the other', () => {
  // Some ten seconds of CPU: it is the work that is tested.
  it('cost no agent its link, and leave the memory as it was', { timeout: 180_000 }, async () => {
    const before = await link();
    const first = await postAll();
    let growth = Infinity;
    for (let round = 1; round < ROUNDS && growth >= MAX_GROWTH_BYTES; round += 1) {
      growth = (await postAll()) - first;
    }
    expect(growth).toBeLessThan(MAX_GROWTH_BYTES);
    expect(await link()).toEqual(before);
  });
});
