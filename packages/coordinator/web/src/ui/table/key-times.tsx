import type { MyResult } from '../../api/commands.js';
import { Ago } from '../text/time.js';

type Times = Pick<MyResult<'key.list'>[number], 'last_used_at' | 'expires_at'>;

/** When an API key was used last, and when it ends. */
export function KeyTimes({ last_used_at: used, expires_at: end }: Times) {
  return (
    <>
      used <Ago at={used} />, expires <Ago at={end} />
    </>
  );
}
