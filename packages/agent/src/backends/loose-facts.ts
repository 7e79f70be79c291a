/**
 * Schemas for a local server's own lists: a missing or malformed value becomes null, because one
 * odd value must not invalidate the whole list.
 */
import * as z from 'zod';

export const text = z.string().nullish().catch(null);
export const count = z.number().nullish().catch(null);
export const flag = z.boolean().nullish().catch(null);
export const names = z.array(z.string()).nullish().catch(null);

/**
 * The inputs besides text, from a server's flags; null if one flag is unknown and no other is set:
 * the agent refuses nothing that the server may accept.
 */
export function inputsTold(
  told: Readonly<Record<string, boolean | null | undefined>>,
): readonly string[] | null {
  const taken = Object.keys(told).filter((input) => told[input] === true);
  const isOpen = Object.values(told).some((said) => said === null || said === undefined);
  return isOpen && taken.length === 0 ? null : ['text', ...taken];
}
