import { ApiError } from '@inference-gateway/shared/errors';
import { newPassword } from './password.js';

/** Throws `invalid_value` where a member may not choose it; the password is not repeated. */
export function requirePassword(password: string): void {
  const issue = newPassword.safeParse(password).error?.issues[0];
  if (issue === undefined) return;
  const message = `The password is not allowed: ${issue.message}.`;
  throw new ApiError('invalid_value', message, { param: 'password' });
}
