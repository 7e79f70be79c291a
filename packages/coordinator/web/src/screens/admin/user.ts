import type { AdminResult } from '../../api/commands.js';

export type User = AdminResult<'user.list'>[number] & {
  /** Undefined until they are known. */
  readonly limits: AdminResult<'limit.show'>[number] | undefined;
  /** How many browsers are logged in. */
  readonly sessions: number;
};
