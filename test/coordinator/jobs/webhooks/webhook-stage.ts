/** A webhook sender with a store in memory, and receivers that are real servers. */
import type { WebhookDelivery, WebhookStore } from '@inference-gateway/coordinator/store/port';
import { WebhookSender } from '@inference-gateway/coordinator/jobs/webhooks/sender';
import type { WebhookSenderParts } from '@inference-gateway/coordinator/jobs/webhooks/sender';
import { newSecret } from '@inference-gateway/shared/ids';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { randomBytes } from 'node:crypto';
import { Webhook } from 'standardwebhooks';
import { onTestFinished } from 'vitest';
import { startRecordingServer } from '../../../support/recording-server.js';
import type {
  Handler,
  RecordedRequest,
  RecordingServer,
} from '../../../support/recording-server.js';

export const SECRET = `whsec_${randomBytes(32).toString('base64')}`;

export interface Row {
  delivery: WebhookDelivery;
  nextAt: number;
}

export class MemoryWebhooks implements WebhookStore {
  readonly rows = new Map<string, Row>();
  readonly released: string[] = [];
  readonly postponed: { readonly id: string; readonly nextAt: number }[] = [];

  add(url: string, delivery: Partial<WebhookDelivery> = {}): string {
    const id = delivery.id ?? `msg_${newSecret('gwk').slice(4)}`;
    const whole: WebhookDelivery = {
      id,
      subject: 'job',
      subjectId: 'job-1',
      memberId: 'anna',
      url,
      secret: SECRET,
      createdAt: Date.now(),
      attempts: 0,
      ...delivery,
    };
    this.rows.set(id, { delivery: whole, nextAt: whole.createdAt });
    return id;
  }

  async dueWebhooks(now: number, perMember: number): Promise<readonly WebhookDelivery[]> {
    const counts = new Map<string, number>();
    return [...this.rows.values()]
      .filter(({ nextAt }) => nextAt <= now)
      .toSorted((a, b) => a.nextAt - b.nextAt)
      .map(({ delivery }) => delivery)
      .filter(({ memberId }) => {
        const count = (counts.get(memberId) ?? 0) + 1;
        counts.set(memberId, count);
        return count <= perMember;
      });
  }

  async nextWebhookAt(): Promise<number | null> {
    const times = [...this.rows.values()].map(({ nextAt }) => nextAt);
    return times.length === 0 ? null : Math.min(...times);
  }

  /** This is the only coordinator. */
  async leaseWebhook(id: string): Promise<boolean> {
    return this.rows.has(id);
  }

  async releaseWebhook(id: string): Promise<void> {
    this.released.push(id);
  }

  async endWebhook(id: string): Promise<void> {
    this.rows.delete(id);
  }

  async postponeWebhook(id: string, nextAt: number): Promise<void> {
    this.postponed.push({ id, nextAt });
    const row = this.rows.get(id);
    if (row === undefined) return;
    const delivery = { ...row.delivery, attempts: row.delivery.attempts + 1 };
    this.rows.set(id, { delivery, nextAt });
  }
}

/** Keeps every log line as JSON, including those of level debug. */
export function listeningLogger(): { readonly logger: Logger; readonly lines: string[] } {
  const lines: string[] = [];
  const keep = (fields: object, msg: string): void =>
    void lines.push(JSON.stringify({ ...fields, msg }));
  const logger = { debug: keep, info: keep, warn: keep } as unknown as Logger;
  return { logger, lines };
}

/** Sends an object with the subject's id, allows every address, and retries after 10 ms. */
export function createSender(
  store: WebhookStore,
  { timings, ...parts }: Partial<WebhookSenderParts> = {},
): WebhookSender {
  const sender = new WebhookSender({
    store,
    now: Date.now,
    logger: listeningLogger().logger,
    describe: async ({ subjectId }) => JSON.stringify({ id: subjectId }),
    userAgent: 'inference-gateway/0.0.0',
    allowPrivate: true,
    publicUrl: null,
    timings: {
      gapMs: 1,
      tryMs: 2_000,
      closeMs: 50,
      backOff: { delaysMs: [10], maxAgeMs: 60_000 },
      ...timings,
    },
    ...parts,
  });
  onTestFinished(() => sender.close());
  return sender;
}

export async function startReceiver(handler: Handler): Promise<RecordingServer> {
  const server = await startRecordingServer(handler);
  onTestFinished(() => server.close());
  return server;
}

/** The message; throws if its signature is wrong. */
export function verify({ body, headers }: RecordedRequest): unknown {
  return new Webhook(SECRET).verify(body.toString(), headers as Record<string, string>);
}

export function idsOf(requests: readonly RecordedRequest[]): unknown[] {
  return requests.map(({ headers }) => headers['webhook-id']);
}
