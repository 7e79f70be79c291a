import type { MyResult } from '../../api/commands.js';
import { Badge } from '../figures/badge.js';
import type { Mood } from '../figures/mood.js';
import { Ago } from '../text/time.js';

type State = MyResult<'key.list'>[number]['state'];

const MOODS: Readonly<Record<State, Mood>> = {
  active: 'good',
  disabled: 'warn',
  expired: 'bad',
  revoked: 'plain',
};

export const KEY_STATES = Object.keys(MOODS);

/** Whether an API key works, and why not. */
export function KeyState({ state }: { readonly state: State }) {
  return (
    <Badge dot mood={MOODS[state]}>
      {state}
    </Badge>
  );
}

type Times = Pick<MyResult<'key.list'>[number], 'last_used_at' | 'expires_at'>;

/** When an API key was last used, and when it expires. */
export function KeyTimes({ last_used_at: used, expires_at: end }: Times) {
  return (
    <>
      used <Ago at={used} />, expires <Ago at={end} />
    </>
  );
}
