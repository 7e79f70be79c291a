/** How many jobs or batches a list may have: as many as a caller's own lists. */
import * as z from 'zod';

const MAX_LISTED = 500;
const LIMIT_RULE = `a list has 1 to ${MAX_LISTED} rows`;

export const listLimit = z.int(LIMIT_RULE).min(1, LIMIT_RULE).max(MAX_LISTED, LIMIT_RULE);
