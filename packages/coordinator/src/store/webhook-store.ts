/** The part of the store's port for webhooks that are to be delivered. */

/**
 * A webhook about a finished job or batch. The row is written in the transaction of its end, so
 * that none is lost.
 */
export interface WebhookDelivery {
  /** The same for every attempt: receivers recognize repetitions by it. */
  readonly id: string;
  readonly subject: 'job' | 'batch';
  readonly subjectId: string;
  readonly memberId: string;
  readonly url: string;
  readonly secret: string;
  /** Time at which the subject ended. */
  readonly createdAt: number;
  /** Attempts so far. */
  readonly attempts: number;
}

export interface WebhookStore {
  /**
   * The due ones, the longest due first: at most `perMember` of each member, so that one member's
   * backlog does not delay the others.
   */
  dueWebhooks(now: number, perMember: number): Promise<readonly WebhookDelivery[]>;
  /** When the next one is due; null if none is left. */
  nextWebhookAt(): Promise<number | null>;
  /** Delivered, or given up: deletes the row. */
  endWebhook(id: string): Promise<void>;
  /** Another attempt has failed. */
  postponeWebhook(id: string, nextAt: number): Promise<void>;
}
