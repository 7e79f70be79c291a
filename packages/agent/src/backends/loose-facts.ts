/**
 * Facts of a local server's own lists: null where they are left out or written otherwise, because
 * one that is odd must not cost the whole list.
 */
import * as z from 'zod';

export const text = z.string().nullish().catch(null);
export const count = z.number().nullish().catch(null);
export const flag = z.boolean().nullish().catch(null);
export const names = z.array(z.string()).nullish().catch(null);
