/** Three coordinators under load, of which each is killed in turn. */
import { randomUUID } from 'node:crypto';
import { setTimeout as sleep } from 'node:timers/promises';
import { expect, onTestFinished, test } from 'vitest';
import { linkedAgents, startAgents } from '../support/cluster-agents.js';
import { startCluster } from '../support/cluster.js';
import type { Cluster } from '../support/cluster.js';
import { chunks } from '../support/fake-behaviours.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import { usePostgres } from '../support/postgres.js';
import { FULL } from '../support/process-stage.js';
import { until } from '../support/until.js';

const server = usePostgres();
const AGENTS = FULL ? 60 : 4;
const KILLS = FULL ? 50 : 1;
const CALLERS = FULL ? 12 : 4;
/** Of each caller, between an answer and the next call. */
const PACE_MS = FULL ? 0 : 100;
/** An agent notices at once that its link is gone. Sixty take 3 to 15 s on two busy cores. */
const BACK_MS = 30_000;
/** By then the others know that its agents are offline. */
const TOLD_MS = 500;
/** An agent whose links end one after the other, each at once, waits for longer and longer. */
const BETWEEN_MS = 3_000;
/** No call hangs: a caller gets an answer, an error or a closed connection. */
const LONGEST_CALL_MS = 60_000;

interface Seen {
  /** Ids of jobs, and what each says. */
  readonly accepted: Map<string, string>;
  whole: number;
  /** The error event of a stream, or the code of an error document. */
  readonly errors: string[];
  /** The coordinator that the caller was connected to was killed. */
  cut: number;
}

test(
  `kills of each in turn, ${KILLS} in all, neither lose nor double a job`,
  async () => {
    const databaseUrl = await server().createDatabase();
    onTestFinished(() => server().dropDatabase(databaseUrl));
    const fake = await startFakeOpenAi({
      models: ['m'],
      behaviour: chunks({ count: 8, delayMs: 20 }),
    });
    onTestFinished(() => fake.close());
    const cluster = await startCluster({ databaseUrl });
    await startAgents(cluster, { databaseUrl, count: AGENTS, baseUrl: fake.baseUrl, slots: 4 });
    const seen: Seen = { accepted: new Map(), whole: 0, errors: [], cut: 0 };
    const over = new AbortController();
    const callers = Array.from({ length: CALLERS }, (_, i) => {
      return callOn(cluster, { seen, signal: over.signal, isJob: i % 2 === 0 });
    });
    for (let kill = 0; kill < KILLS; kill++) {
      const before = seen.whole + seen.accepted.size;
      await until(() => seen.whole + seen.accepted.size > before + 2 * CALLERS);
      const node = cluster.nodes[kill % cluster.nodes.length] ?? cluster.nodes[0];
      await cluster.kill(node);
      await sleep(TOLD_MS);
      const what = `all agents back after ${node.name} was killed`;
      // Meanwhile some that are back are asked to move again, so that all have as many.
      const back = new Set<string>();
      const areBack = async (): Promise<boolean> => {
        for (const name of await linkedAgents(cluster)) back.add(name);
        return back.size === AGENTS;
      };
      await until(areBack, { timeoutMs: BACK_MS, what });
      await cluster.start(node);
      await sleep(BETWEEN_MS);
    }
    over.abort();
    await Promise.all(callers);
    // A provider whose link is gone is replaced, until the first byte has gone to the caller.
    for (const code of seen.errors) expect(code).toBe('provider_disconnected');
    expect(seen.cut).toBeLessThanOrEqual(KILLS * CALLERS);
    const [{ gateway }] = cluster.nodes;
    for (const id of seen.accepted.keys()) {
      const job = async (): Promise<string> => {
        const response = await gateway.fetch(`/v1/jobs/${id}`);
        return ((await response.json()) as { status: string }).status;
      };
      await until(async () => (await job()) === 'PROCESSED', { what: `${id} is done` });
    }
    const said = fake.requests.map(({ body }) => JSON.stringify(body['messages']));
    for (const content of seen.accepted.values()) {
      expect(said.filter((text) => text.includes(content))).toHaveLength(1);
    }
  },
  FULL ? 1_800_000 : 180_000,
);

interface Calling {
  readonly seen: Seen;
  readonly signal: AbortSignal;
  readonly isJob: boolean;
}

async function callOn({ url, nodes }: Cluster, { seen, signal, isJob }: Calling): Promise<void> {
  const headers = {
    authorization: `Bearer ${nodes[0].gateway.key}`,
    'content-type': 'application/json',
  };
  while (!signal.aborted) {
    const content = `hello ${randomUUID()}`;
    const messages = [{ role: 'user', content }];
    const body = JSON.stringify({ model: 'm', messages, [isJob ? 'async' : 'stream']: true });
    try {
      const response = await fetch(`${url}/v1/chat/completions`, {
        method: 'POST',
        headers,
        body,
        signal: AbortSignal.timeout(LONGEST_CALL_MS),
      });
      const text = await response.text();
      if (response.status === 202) seen.accepted.set(idOf(text), content);
      else if (text.endsWith('data: [DONE]\n\n') && !text.includes('"error"')) seen.whole += 1;
      else seen.errors.push(/"code":\s*"(\w+)"/.exec(text)?.[1] ?? text.slice(0, 200));
    } catch (error) {
      if (error instanceof DOMException) throw error;
      seen.cut += 1;
    }
    await sleep(PACE_MS);
  }
}

function idOf(text: string): string {
  return (JSON.parse(text) as { id: string }).id;
}
