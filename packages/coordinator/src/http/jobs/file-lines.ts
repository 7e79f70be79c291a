/** From the lines of a file of requests to jobs. */
import { ApiError } from '@inference-gateway/shared/errors';
import type { Links } from '../../core/routing/links.js';
import type { LineReader } from '../../jobs/batch-output.js';
import { BatchLines, linesOf } from '../bodies/batch-lines.js';
import type { BatchLinesParts } from '../bodies/batch-lines.js';
import { Chain } from '../inference/chain.js';
import { callOf } from '../inference/read-call.js';
import { toJobItem } from './submit-job.js';

export function lineReader(
  parts: BatchLinesParts & { readonly links: Links; readonly maxLineBytes: number },
): LineReader {
  const { links, maxLineBytes } = parts;
  const judge = new BatchLines(parts);
  return {
    lines: (pieces) => linesOf(pieces, maxLineBytes),
    customIdOf: async (line, memberId) => (await judge.judge(line, memberId)).customId,
    toJob: async (line, asking) => {
      const { customId, take } = await judge.judge(line, asking.memberId);
      try {
        const { endpoint, ...judged } = take();
        const asked = { endpoint, call: callOf(judged) };
        return { customId, made: toJobItem(asked, new Chain(asked, asking, links)).item };
      } catch (error) {
        // The limits may have changed since the file was checked.
        if (!(error instanceof ApiError)) throw error;
        return { customId, made: error.body.error };
      }
    },
  };
}
