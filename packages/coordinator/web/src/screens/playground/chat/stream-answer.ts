/** Requests and reads one streamed answer. */
import { Fault } from '../../../api/fault.js';
import type { ApiRequest } from '../call.js';
import { shownOf } from '../shown-fault.js';
import { factsOf } from '../run-facts.js';
import type { Marks } from '../run-facts.js';
import type { Answer } from './conversation.js';
import { readEvents } from './events.js';
import { NOTHING_HEARD, hear, splitThinking } from './heard.js';
import type { Heard } from './heard.js';

type Write = (changes: Partial<Answer>) => void;

const BROKEN = 'The answer broke off before its end. Regenerate it.';

/** Throws a `Fault` if no answer begins, and an `AbortError` if it was stopped. */
export async function streamAnswer(
  send: (request: ApiRequest) => Promise<Response>,
  request: ApiRequest,
  write: Write,
): Promise<void> {
  const sentAt = performance.now();
  let marks: Marks = { sentAt, firstAt: null, lastAt: null };
  let heard = NOTHING_HEARD;
  const { body, headers } = await send(request);
  const show = (): void => {
    const tokens = heard.tokens ?? null;
    const facts = factsOf(headers, { marks, endedAt: performance.now(), tokens });
    write({ ...splitThinking(heard), finish: heard.finish, facts });
  };
  const pace = new Pace(show);
  try {
    for await (const data of body === null ? [] : readEvents(body)) {
      const next = hear(heard, data);
      if (hasGrown(heard, next)) marks = marked(marks, performance.now());
      heard = next;
      pace.soon();
      if (heard.isDone || heard.error !== null) break;
    }
  } catch (thrown) {
    throw isAbort(thrown) ? thrown : new Fault(BROKEN);
  } finally {
    pace.now();
  }
  finish(heard, headers.get('x-request-id'), write);
}

function isAbort(thrown: unknown): boolean {
  return thrown instanceof DOMException && thrown.name === 'AbortError';
}

function hasGrown(before: Heard, after: Heard): boolean {
  return after.text !== before.text || after.reasoning !== before.reasoning;
}

function marked({ sentAt, firstAt }: Marks, now: number): Marks {
  return { sentAt, firstAt: firstAt ?? now, lastAt: now };
}

function finish({ error, isDone }: Heard, requestId: string | null, write: Write): void {
  if (error === null && isDone) return write({ state: 'done' });
  const { message, code } = error ?? { message: BROKEN, code: 'provider_disconnected' };
  write({ state: 'failed', fault: shownOf(new Fault(message, { code, requestId })) });
}

/** Upper limit of the delay: a hidden tab gets no animation frames. */
const UNSEEN_MS = 250;

/** Renders at most once per frame: fast models send several tokens in one. */
class Pace {
  readonly #draw: () => void;
  #frame: number | null = null;
  #timer: ReturnType<typeof setTimeout> | undefined;

  constructor(draw: () => void) {
    this.#draw = draw;
  }

  soon(): void {
    if (this.#frame !== null) return;
    this.#frame = requestAnimationFrame(() => this.now());
    this.#timer = setTimeout(() => this.now(), UNSEEN_MS);
  }

  now(): void {
    if (this.#frame !== null) cancelAnimationFrame(this.#frame);
    clearTimeout(this.#timer);
    this.#frame = null;
    this.#draw();
  }
}
