/** A streamed answer as its bytes arrive, for tests that check it before it ends. */
import type { ErrorBody } from '@inference-gateway/shared/errors';
import type { TestGateway } from '../support/gateway.js';
import { until } from '../support/until.js';
import { chat, eventsOf, post } from './requests.js';

export class OpenStream {
  readonly status: number;
  readonly headers: Headers;
  text = '';
  ended = false;
  /** Whether the connection broke before the answer ended. */
  broken = false;

  constructor(response: Response) {
    this.status = response.status;
    this.headers = response.headers;
    void this.#read(response).catch(() => {
      this.broken = true;
    });
  }

  /** Resolves once the text contains `part`. */
  async has(part: string): Promise<void> {
    await until(() => this.text.includes(part), { what: `'${part}' in the stream` });
  }

  /** The complete text; waits for the end of the answer. */
  async all(): Promise<string> {
    await until(() => this.ended || this.broken, { what: 'the end of the stream' });
    if (this.broken) throw new Error(`the connection broke after: ${this.text}`);
    return this.text;
  }

  /** The error event at the end of the stream; it must be the last event before [DONE]. */
  async failure(): Promise<ErrorBody['error']> {
    const events = eventsOf(await this.all());
    if (events.at(-1) !== '[DONE]') throw new Error(`no [DONE] at the end of: ${this.text}`);
    const last = JSON.parse(events.at(-2) ?? 'null') as Partial<ErrorBody> | null;
    if (last?.error === undefined) throw new Error(`no error at the end of: ${this.text}`);
    return last.error;
  }

  async #read(response: Response): Promise<void> {
    const decoder = new TextDecoder();
    for await (const bytes of response.body ?? []) {
      this.text += decoder.decode(bytes, { stream: true });
    }
    this.ended = true;
  }
}

/** Resolves once the headers of the answer have arrived. */
export async function openStream(gateway: TestGateway, fields: object = {}): Promise<OpenStream> {
  return new OpenStream(await post(gateway, chat({ stream: true, ...fields })));
}
