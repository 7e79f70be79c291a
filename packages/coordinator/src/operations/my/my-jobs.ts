import * as z from 'zod';
import { viewFailedAttempts } from '../job-view.js';
import { providerNames } from '../names.js';
import { read } from './command.js';
import { notYours } from './own.js';

/** Longer ones are pictures, which nobody reads as text. */
const MAX_SHOWN_BYTES = 256 * 1024;

export const MY_JOBS = {
  /** What the API does not tell of a job: who ran it, and what was asked. */
  'job.facts': read(z.strictObject({ job: z.string() }), async (mine, { job: id }) => {
    const { store } = mine.context;
    const detail = await store.findJob(id, mine.member.id);
    if (detail === null) throw notYours('job', id);
    const body = await store.findJobBody(id, mine.member.id);
    const { job } = detail;
    const providers = await providerNames(store);
    return {
      /** Who has it, or had it last. */
      provider: providers.get(job.providerId ?? '') ?? null,
      request_id: job.requestId,
      /** 1, and one more with every retry. */
      generation: job.generation,
      not_before: job.notBefore,
      failed_attempts: viewFailedAttempts(detail, providers),
      /** JSON; null once the job is PROCESSED, and where it is too long to be shown. */
      request: body === null || body.byteLength > MAX_SHOWN_BYTES ? null : textOf(body),
      request_bytes: body?.byteLength ?? null,
    };
  }),
};

function textOf(body: Uint8Array): string {
  return new TextDecoder().decode(body);
}
