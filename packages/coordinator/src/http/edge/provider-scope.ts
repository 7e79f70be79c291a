/** A call may narrow its key's scope to the caller's own machines, never widen it. */
import { ApiError } from '@inference-gateway/shared/errors';
import { callerOf } from './context.js';
import type { Middleware } from './context.js';

export const narrowScope: Middleware = (ctx, next) => {
  const asked = ctx.get('x-provider-scope');
  if (asked === 'own') ctx.state.caller = { ...callerOf(ctx), scope: 'own' };
  else if (asked !== '' && asked !== 'any') {
    const message = `The header x-provider-scope is '${asked}'. It may be 'own' or 'any'.`;
    throw new ApiError('invalid_value', message, { param: 'x-provider-scope' });
  }
  return next();
};
