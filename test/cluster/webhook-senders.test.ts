/** Coordinators that share a database send each message once an attempt. */
import { openWebhooks } from '@inference-gateway/coordinator/jobs/webhooks/sender';
import { createStore } from '@inference-gateway/coordinator/store/client/client';
import type { Store } from '@inference-gateway/coordinator/store/port';
import { openPeer } from '@inference-gateway/coordinator/store/postgres/engine';
import { expect, onTestFinished, test } from 'vitest';
import {
  idsOf,
  listeningLogger,
  SECRET,
  startReceiver,
} from '../coordinator/jobs/webhooks/webhook-stage.js';
import { submitJob } from '../store/job-rows.js';
import { createMember } from '../store/store-rows.js';
import { usePostgres } from '../support/postgres.js';
import { send } from '../support/recording-server.js';
import { until } from '../support/until.js';

const server = usePostgres();
const MESSAGES = 40;
/** The second one is 5 s after the first: the clock of the senders is put forward for it. */
const ATTEMPTS = 2;
const MINUTE_MS = 60_000;

test('two senders try each message once an attempt', async () => {
  const url = await server().createDatabase();
  onTestFinished(() => server().dropDatabase(url));
  let aheadMs = 0;
  const now = (): number => Date.now() + aheadMs;
  const stores = ['one', 'other'].map((nodeId) => createStore(openPeer({ url, nodeId }), { now }));
  onTestFinished(async () => {
    for (const store of stores) await store.close();
  });
  const [store] = stores as [Store];
  const tries = new Map<unknown, number>();
  const receiver = await startReceiver(({ headers }, response) => {
    const count = (tries.get(headers['webhook-id']) ?? 0) + 1;
    tries.set(headers['webhook-id'], count);
    send(response, count < ATTEMPTS ? 500 : 204, '');
  });
  await endJobs(store, receiver.origin);

  const senders = stores.map((one) =>
    openWebhooks({
      store: one,
      now,
      logger: listeningLogger().logger,
      config: { webhookPrivate: true, publicUrl: null },
      present: { job: ({ job }) => JSON.stringify({ id: job.id }), batch: () => '{}' },
    }),
  );
  onTestFinished(async () => {
    for (const sender of senders) await sender.close();
  });
  const wake = (): void => senders.forEach((sender) => sender.wake());
  wake();
  await until(() => receiver.requests.length === MESSAGES);
  await until(async () => ((await store.nextWebhookAt()) ?? 0) > Date.now());
  aheadMs = MINUTE_MS;
  wake();
  await until(async () => (await store.nextWebhookAt()) === null);
  const ids = idsOf(receiver.requests);
  expect(new Set(ids).size).toBe(MESSAGES);
  expect(ids).toHaveLength(MESSAGES * ATTEMPTS);
  expect(new Set(tries.values())).toEqual(new Set([ATTEMPTS]));
});

/** Of several members: a sender has only a few messages of each on their way. */
async function endJobs(store: Store, url: string): Promise<void> {
  const webhook = { url, secret: SECRET };
  for (let i = 0; i < MESSAGES; i++) {
    const { id: memberId } = await createMember(store, `member-${i}`);
    const { id } = await submitJob(store, memberId, { webhook });
    await store.cancelJob(id, memberId, Date.now());
  }
}
