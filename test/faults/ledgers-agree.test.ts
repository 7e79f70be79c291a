/**
 * Hundreds of calls of every kind: successful, failed and abandoned. The coordinator's metering,
 * its statistics and each agent's ledger must have the same token sums.
 */
import { expect, it, onTestFinished } from 'vitest';
import { act } from '../api/job-calls.js';
import { chat, CHAT } from '../api/requests.js';
import { chunks, document, html500, noDone, reply, stream } from '../support/fake-behaviours.js';
import type { Behaviour, FakeRequest } from '../support/fake-model-server.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { startGateway } from '../support/gateway.js';
import type { TestAgent, TestGateway } from '../support/gateway.js';
import { FULL } from '../support/process-stage.js';
import { until } from '../support/until.js';
import { usageRows } from '../support/usage-rows.js';

type Agent = TestAgent['agent'];

const CALLS = FULL ? 2_000 : 400;
const AT_ONCE = 16;
/** Enough for providers to fail and others to take over. */
const PROVIDERS = 3;

/** mulberry32: the same calls in every run. */
function seeded(seed: number): (below: number) => number {
  let state = seed;
  return (below) => {
    state = (state + 0x6d2b79f5) | 0;
    let t = Math.imul(state ^ (state >>> 15), 1 | state);
    t = (t + Math.imul(t ^ (t >>> 7), 61 | t)) ^ t;
    return ((t ^ (t >>> 14)) >>> 0) % below;
  };
}

/** The request's text is an order to the local server: `say 7 12` means seven words. */
function orderOf({ body }: FakeRequest): { order: string; amount: number; id: string } {
  const { messages, prompt } = body as { messages?: { content: string }[]; prompt?: string };
  const [order = '', amount = '', id = ''] = (messages?.[0]?.content ?? prompt ?? '').split(' ');
  return { order, amount: Number(amount), id };
}

const wordsOf = (amount: number): string[] => Array.from({ length: amount }, (_, i) => `w${i} `);

/** Orders `over` that have failed once already; the next server answers them. */
const failedOnce = new Set<string>();

const serve: Behaviour = (request, response) => {
  const { order, amount, id } = orderOf(request);
  const isStream = request.body['stream'] === true;
  const words = wordsOf(amount);
  const text = words.join('').trimEnd();
  const counted = isStream ? stream(words) : document({ text, promptTokens: amount * 2 });
  switch (order) {
    case 'mute': {
      if (isStream) return noDone(words)(request, response);
      const message = { role: 'assistant', content: text };
      const choices = [{ index: 0, message, text, finish_reason: 'stop' }];
      return reply(200, { id: 'x', created: 1, choices })(request, response);
    }
    case 'over':
      if (failedOnce.has(id)) return counted(request, response);
      failedOnce.add(id);
      return html500()(request, response);
    case 'fail':
      return html500()(request, response);
    case 'refuse':
      return reply(400, { error: { message: 'no' } })(request, response);
    case 'die':
      response.once('close', () => undefined);
      return isStream ? dies(amount)(request, response) : void response.destroy();
    case 'slow':
      return isStream ? chunks({ count: 400, delayMs: 2 })(request, response) : undefined;
    default:
      return counted(request, response);
  }
};

/** Some chunks, then the connection is cut. */
function dies(after: number): Behaviour {
  return (request, response) =>
    void (async () => {
      const texts = wordsOf(after);
      response.writeHead(200, { 'content-type': 'text/event-stream' });
      const index = 0;
      for (const content of texts) {
        const choices = [{ index, delta: { content }, text: content, finish_reason: null }];
        response.write(`data: ${JSON.stringify({ id: 'x', created: 1, choices })}\n\n`);
      }
      await new Promise((resolve) => setImmediate(resolve));
      response.destroy();
    })();
}

const ORDERS = ['say', 'say', 'say', 'mute', 'mute', 'over', 'fail', 'refuse', 'die', 'slow'];

class Run {
  readonly #gateway: TestGateway;
  readonly #random = seeded(20_261_122);
  readonly jobs: string[] = [];

  constructor(gateway: TestGateway) {
    this.#gateway = gateway;
  }

  async all(): Promise<void> {
    let next = 0;
    const work = async (): Promise<void> => {
      while (next < CALLS) await this.#one(next++);
    };
    await Promise.all(Array.from({ length: AT_ONCE }, work));
  }

  async #one(i: number): Promise<void> {
    const random = this.#random;
    const order = ORDERS[random(ORDERS.length)] ?? 'say';
    const text = `${order} ${1 + random(12)} ${i}`;
    const path = random(4) === 0 ? '/v1/completions' : CHAT;
    const messages = [{ role: 'user', content: text }];
    const isList = random(3) === 0;
    const asked =
      path === CHAT ? chat({ messages }) : { model: 'tiny', prompt: isList ? [text, text] : text };
    const fields = {
      ...asked,
      ...(random(5) === 0 && { n: 1 + random(3) }),
      ...(random(6) === 0 && { max_tokens: 4_000 }),
    };
    // A failing job is retried for seconds, so only some of them become jobs.
    const mayBeJob = order !== 'slow' && (!['fail', 'die'].includes(order) || i % 40 === 0);
    if (mayBeJob && random(4) === 0) return this.#job(path, fields, random(4) === 0);
    const isStream = random(2) === 0;
    const usage = random(2) === 0 && { stream_options: { include_usage: true } };
    return this.#call(path, isStream ? { ...fields, stream: true, ...usage } : fields, {
      leavesAfter: order === 'slow' || random(8) === 0 ? random(6) : null,
    });
  }

  /**
   * The caller leaves after this many pieces of a stream, or after a short time if it is a plain
   * call.
   */
  async #call(
    path: string,
    fields: object,
    { leavesAfter }: { readonly leavesAfter: number | null },
  ): Promise<void> {
    const leaving = new AbortController();
    const { signal } = leaving;
    const call = this.#post(path, fields, signal);
    // Some leave while the request is read, some while it runs, and some too late.
    const isPlain = leavesAfter !== null && !('stream' in fields);
    const timer = isPlain ? setTimeout(() => leaving.abort(), leavesAfter * 2) : undefined;
    try {
      const response = await call;
      let pieces = 0;
      for await (const _piece of response.body ?? []) {
        pieces += 1;
        if (leavesAfter === null || pieces <= leavesAfter) continue;
        leaving.abort();
        break;
      }
    } catch {
      // The caller left, or the answer broke: both are metered.
    } finally {
      clearTimeout(timer);
    }
  }

  async #job(path: string, fields: object, isCanceled: boolean): Promise<void> {
    const response = await this.#post(path, { ...fields, async: true });
    const { id } = (await response.json()) as { readonly id: string };
    this.jobs.push(id);
    if (isCanceled) await act(this.#gateway, `/v1/jobs/${id}/cancel`);
  }

  #post(path: string, fields: object, signal?: AbortSignal): Promise<Response> {
    return this.#gateway.fetch(path, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body: JSON.stringify(fields),
      ...(signal !== undefined && { signal }),
    });
  }
}

interface Tokens {
  readonly prompt: number;
  readonly completion: number;
}

function sum(list: readonly Tokens[]): Tokens {
  return list.reduce(
    (a, b) => ({ prompt: a.prompt + b.prompt, completion: a.completion + b.completion }),
    { prompt: 0, completion: 0 },
  );
}

interface Named extends Tokens {
  readonly name: string;
}

/** Tokens by provider, from the coordinator's statistics. */
async function meteredBy(gateway: TestGateway): Promise<Named[]> {
  const asked = { by: 'provider', since_s: null, user: null, owner: null } as const;
  const stats = await gateway.admin('stats.show', asked);
  const told = stats.flatMap(({ name, prompt_tokens: prompt, completion_tokens: completion }) =>
    name === null ? [] : [{ name: name.split('/').at(-1) ?? '', prompt, completion }],
  );
  return told.toSorted((a, b) => a.name.localeCompare(b.name));
}

/** Tokens by provider, as each owner sees them. */
function ledgersOf(agents: ReadonlyMap<string, Agent>): Named[] {
  return [...agents].map(([name, { ledger }]) => {
    const { promptTokens: prompt, completionTokens: completion } = ledger.today.total;
    return { name, prompt, completion };
  });
}

function same(one: readonly Named[], other: readonly Named[]): boolean {
  return JSON.stringify(one) === JSON.stringify(other);
}

it('rows, statistics and every owner’s ledger agree to the last token', async () => {
  const gateway = await startGateway({ breakerOpenMs: 0 });
  const agents = new Map<string, Agent>();
  for (let i = 0; i < PROVIDERS; i++) {
    const fake = await startFakeOpenAi({ behaviour: serve });
    onTestFinished(() => fake.close());
    const name = `pc-${i}`;
    const services = [{ baseUrl: fake.baseUrl, slots: 6 }];
    agents.set(name, (await gateway.startAgent({ name, services })).agent);
  }
  const run = new Run(gateway);
  await run.all();
  const jobsEnded = (): boolean => {
    const metered = new Set(usageRows(gateway).map(({ requestId }) => requestId));
    return run.jobs.every((id) => metered.has(`${id}.1`));
  };
  await until(jobsEnded, { what: 'a row for each job', timeoutMs: 60_000 });
  await until(() => [...agents.values()].every((agent) => agent.uses().length === 0));
  // A call whose caller has just left is metered after the agent reports what it sent.
  const settled = async () => same(await meteredBy(gateway), ledgersOf(agents));
  await until(settled, { timeoutMs: 10_000 }).catch(() => undefined);

  expect(await meteredBy(gateway)).toEqual(ledgersOf(agents));
  const rows = usageRows(gateway);
  expect(rows.length).toBeGreaterThan(CALLS * 0.9);
  const outcomes = new Set(rows.map(({ outcome, estimated }) => `${outcome} ${estimated}`));
  expect([...outcomes]).toEqual(
    expect.arrayContaining(['ok 0', 'ok 1', 'failed 0', 'failed 1', 'canceled 0', 'canceled 1']),
  );
  const ofRows = sum(
    rows.map((row) => ({ prompt: row.promptTokens, completion: row.completionTokens })),
  );
  for (const by of ['provider', 'day', 'member', 'model', 'endpoint', 'key', 'source'] as const) {
    const asked = { by, since_s: null, user: null, owner: null };
    const stats = await gateway.admin('stats.show', asked);
    const ofStats = stats.map((one) => ({
      prompt: one.prompt_tokens,
      completion: one.completion_tokens,
    }));
    expect(sum(ofStats), by).toEqual(ofRows);
  }
  const series = { by: 'model', since_s: 86_400, user: null, owner: null } as const;
  const points = await gateway.admin('usage.series', series);
  const ofPoints = points.map((one) => ({
    prompt: one.prompt_tokens,
    completion: one.completion_tokens,
  }));
  expect(sum(ofPoints)).toEqual(ofRows);
  expect(ofRows.completion).toBeGreaterThan(CALLS * 2);
}, 240_000);
