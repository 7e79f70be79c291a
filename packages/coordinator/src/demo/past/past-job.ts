/** A job that ended before the demo began. */
import type { MemberName } from '../cast.js';
import type { Wish } from '../requests.js';

export interface PastJob extends Wish {
  readonly member: MemberName;
  readonly ending: 'done' | 'failed' | 'canceled';
}
