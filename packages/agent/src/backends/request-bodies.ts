/**
 * Parses and checks a request's body: small ones on the event loop, large ones in a thread, which
 * returns their large members as bytes (`shared/json/sparse.ts`). A coordinator's limits allow
 * bodies that would block every stream for a second.
 */
import { MAX_SMALL_BYTES, MAX_SMALL_VALUES } from '@inference-gateway/shared/json/scan';
import { ThreadQueue } from '@inference-gateway/shared/program/thread-queue';
import { readSparse } from '@inference-gateway/shared/json/sparse';
import type { DocumentAnswer, LocalCall } from './backend.js';
import { checkBody, tooMuchJson } from '../openai-wire/checked-body.js';
import type { BodyQuestion } from '../openai-wire/checked-body.js';
import { REQUEST_BODIES_WORKER } from '../own-files.js';

/** The thread's answer. */
export type ThreadAnswer =
  | {
      readonly kind: 'checked';
      readonly written: Uint8Array;
      readonly promptTokens: readonly number[];
    }
  | { readonly kind: 'refused'; readonly answer: DocumentAnswer }
  | { readonly kind: 'failed'; readonly message: string };

export type ReadBody =
  | ({ readonly kind: 'checked' } & Pick<LocalCall, 'body' | 'promptTokens'>)
  | { readonly kind: 'refused'; readonly answer: DocumentAnswer };

interface Received {
  readonly values: number;
  readonly fault: string | null;
  readonly caller: string;
}

export class RequestBodies {
  readonly #thread = new ThreadQueue<BodyQuestion, ThreadAnswer>(
    REQUEST_BODIES_WORKER,
    () => new Error('the agent cannot read so large a body now'),
  );

  /**
   * `values` is the number of JSON values in the bytes, `fault` the reason not to parse them.
   * Callers take turns. A large body's memory is transferred to the thread. Throws if the bytes are
   * not a JSON object, or the thread fails.
   */
  async read(
    bytes: Buffer,
    question: BodyQuestion,
    { values, fault, caller }: Received,
  ): Promise<ReadBody> {
    if (fault !== null) return { kind: 'refused', answer: tooMuchJson(fault) };
    if (bytes.length <= MAX_SMALL_BYTES && values <= MAX_SMALL_VALUES) {
      return checkBody(JSON.parse(bytes.toString()), question);
    }
    const answer = await this.#thread.ask(caller, question, bytes);
    if (answer.kind === 'failed') throw new TypeError(answer.message);
    if (answer.kind === 'refused') return answer;
    const { written, promptTokens } = answer;
    return { kind: 'checked', body: readSparse(written), promptTokens };
  }

  close(): Promise<void> {
    return this.#thread.close();
  }
}
