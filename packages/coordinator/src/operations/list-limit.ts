/** How many jobs or batches a list may have: as many as a caller's own lists. */
import * as z from 'zod';

const MAX_LISTED = 500;

const limitRule = ({ input }: { readonly input?: unknown }): string =>
  `a list has 1 to ${MAX_LISTED} rows, not ${String(input)}`;

export const listLimit = z
  .int({ error: limitRule })
  .min(1, { error: limitRule })
  .max(MAX_LISTED, { error: limitRule });
