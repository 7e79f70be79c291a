/** The body of a batch, and what a submission takes beside its endpoint's own fields. */
import {
  labelled,
  MAX_BATCH_ITEMS,
  wellFormed,
} from '@inference-gateway/shared/openai/batch-requests';
import { webhookSchema } from '@inference-gateway/shared/openai/webhook';
import * as z from 'zod';

export const webhook = webhookSchema.meta({
  description: 'Who is told when the job or batch has ended. No provider sees it.',
});

/** The gateway checks the number of items by hand: each fault of it has a code of its own. */
export const batchRequest = z.looseObject({
  requests: wellFormed.shape.requests.min(1).max(MAX_BATCH_ITEMS),
  ...labelled.shape,
  webhook: webhook.nullish(),
});
