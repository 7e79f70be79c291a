/** A single-use token with which a machine joins. */
import { useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';

export type MadeToken = MyResult<'token.create'>;

/** Long enough to continue tomorrow. */
export const TOKEN_LIFE_S = 86_400;

export function useJoinTokens() {
  return useMy('token.list', {}, { topics: ['providers'] });
}
