import { ArgumentError } from '../arguments.js';

/** The argument that is wrong; null where the error is about none of them alone. */
export function fieldAtFault(error: Error): string | null {
  return error instanceof ArgumentError && error.field !== '' ? error.field : null;
}
