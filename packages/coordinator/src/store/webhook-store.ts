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

/**
 * Several coordinators look for due messages. Before an attempt one of them leases the message;
 * once another one has it, what the former holder writes about it changes nothing.
 */
export interface WebhookStore {
  /**
   * The due ones that no other coordinator has leased, the longest due first: at most `perMember`
   * of each member, so that one member's backlog does not delay the others. Those that this
   * coordinator has leased are among them: an earlier process of it may have left them.
   */
  dueWebhooks(now: number, perMember: number): Promise<readonly WebhookDelivery[]>;
  /** When the next one is due, or its lease ends at another coordinator; null if none is left. */
  nextWebhookAt(): Promise<number | null>;
  /** Begins an attempt. False if it is not due any more, or another coordinator has it. */
  leaseWebhook(id: string, until: number, now: number): Promise<boolean>;
  /** The attempt was not made, and does not count. */
  releaseWebhook(id: string): Promise<void>;
  /** Delivered, or given up: deletes the row. */
  endWebhook(id: string): Promise<void>;
  /** The attempt has failed. */
  postponeWebhook(id: string, nextAt: number): Promise<void>;
}
