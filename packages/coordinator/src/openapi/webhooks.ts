/** The requests to the URL of a `webhook` object, by Standard Webhooks. */
import * as examples from './examples.js';
import type { Operation, Paths } from './open-api.js';
import { jsonBody } from './operation.js';
import { parameters } from './parameters.js';

export function webhooks(): Paths {
  return {
    'job.finished': {
      post: delivery({
        id: 'onJobFinished',
        tag: 'Jobs',
        summary: 'A job has ended',
        body: jsonBody('JobFinished', finished('job.finished', examples.finishedJob)),
      }),
    },
    'batch.finished': {
      post: delivery({
        id: 'onBatchFinished',
        tag: 'Batches',
        summary: 'The last job of a batch has ended',
        body: jsonBody('BatchFinished', finished('batch.finished', examples.finishedBatch)),
      }),
    },
  };
}

interface Delivery {
  readonly id: string;
  readonly tag: string;
  readonly summary: string;
  readonly body: ReturnType<typeof jsonBody>;
}

function delivery({ id, tag, summary, body }: Delivery): Operation {
  return {
    operationId: id,
    tags: [tag],
    summary,
    description:
      'Signed with the secret of the submission and delivered at least once: what is not ' +
      'answered 2xx is tried again, with growing pauses, for a day.',
    security: [],
    parameters: parameters('WebhookId', 'WebhookTimestamp', 'WebhookSignature'),
    requestBody: body,
    responses: {
      '2XX': { description: 'It is taken.' },
      '4XX': { description: 'It is sent again later.' },
      '5XX': { description: 'It is sent again later.' },
    },
  };
}

function finished(type: string, data: object): object {
  return { type, timestamp: examples.FINISHED_AT, data };
}
