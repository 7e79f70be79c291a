/** The part of the store's port that is about webhooks on their way. */

/**
 * A finished job or batch whose caller wants to be told. The row is written in the transaction that
 * ended it, so that none is lost.
 */
export interface WebhookDelivery {
  /** Stays the same for every try: receivers tell repetitions by it. */
  readonly id: string;
  readonly subject: 'job' | 'batch';
  readonly subjectId: string;
  readonly memberId: string;
  readonly url: string;
  readonly secret: string;
  /** When the subject ended. */
  readonly createdAt: number;
  /** Tries so far. */
  readonly attempts: number;
}

export interface WebhookStore {
  /**
   * Those whose time has come, the longest due first: at most `perMember` of each member, so that
   * nobody's backlog hides what others have to be told.
   */
  dueWebhooks(now: number, perMember: number): Promise<readonly WebhookDelivery[]>;
  /** When the next one is due; null if none is left. */
  nextWebhookAt(): Promise<number | null>;
  /** Delivered, or given up: the row goes. */
  endWebhook(id: string): Promise<void>;
  /** Tried once more in vain. */
  postponeWebhook(id: string, nextAt: number): Promise<void>;
}
