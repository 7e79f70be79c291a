/**
 * From the bytes of a request to its checked body: small ones on the event loop, large ones in a
 * thread beside it, of which the large members come back as bytes (`shared/json/sparse.ts`). A
 * coordinator's limits let through bodies that would hold every stream up for a second.
 */
import { MAX_SMALL_BYTES, MAX_SMALL_VALUES } from '@inference-gateway/shared/json/scan';
import { ThreadQueue } from '@inference-gateway/shared/program/thread-queue';
import { readSparse } from '@inference-gateway/shared/json/sparse';
import type { DocumentAnswer, LocalCall } from './backend.js';
import { checkBody, tooMuchJson } from '../openai-wire/checked-body.js';
import type { BodyQuestion } from '../openai-wire/checked-body.js';

const WORKER_FILE = new URL('./request-bodies-worker.js', import.meta.url);

/** What the thread answers. */
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
    WORKER_FILE,
    () => new Error('the agent cannot read so large a body now'),
  );

  /**
   * `values` is how many JSON values the bytes hold, `fault` why they are not to be parsed. Callers
   * take turns. A large body's memory is taken over. Throws where the bytes are not a JSON object,
   * or the thread cannot.
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
