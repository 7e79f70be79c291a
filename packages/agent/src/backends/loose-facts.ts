/**
 * Facts of a local server's own lists: null where they are left out or written otherwise, because
 * one that is odd must not cost the whole list.
 */
import * as z from 'zod';

export const text = z.string().nullish().catch(null);
export const count = z.number().nullish().catch(null);
export const flag = z.boolean().nullish().catch(null);
export const names = z.array(z.string()).nullish().catch(null);

/**
 * What a server takes beside text, by what it says of each; null where it leaves one of them open,
 * and takes none: nothing is refused that may be taken.
 */
export function inputsTold(
  told: Readonly<Record<string, boolean | null | undefined>>,
): readonly string[] | null {
  const taken = Object.keys(told).filter((input) => told[input] === true);
  const isOpen = Object.values(told).some((said) => said === null || said === undefined);
  return isOpen && taken.length === 0 ? null : ['text', ...taken];
}
