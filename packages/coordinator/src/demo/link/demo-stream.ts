/** One request on a demo machine's link: its bytes come in, and an answer goes out. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKind } from '@inference-gateway/shared/endpoints';
import { GatheredBytes } from '@inference-gateway/shared/json/gathered-bytes';
import { ReceiveWindow } from '@inference-gateway/shared/protocol/credit';
import { encodeWindow } from '@inference-gateway/shared/protocol/frames';
import type { AgentMessage, Message } from '@inference-gateway/shared/protocol/messages';
import { LINK } from '@inference-gateway/shared/protocol/version';
import type { SendStream } from '@inference-gateway/shared/protocol/writer';
import * as z from 'zod';
import { DemoFailure } from '../answers/answer.js';
import type { Call, Piece, Answer } from '../answers/answer.js';
import { answerChat } from '../answers/chat.js';
import { answerMusic, answerSpeech, answerTranscription, answerVoices } from '../answers/audio.js';
import { answerImages } from '../answers/images.js';
import { advertised } from '../models.js';

/** What a stream needs of its machine. */
export interface StreamHost {
  readonly pace: Pick<Call, 'random' | 'tokensPerSecond'>;
  control(frame: string | Uint8Array): void;
  /** The last word was said, or nobody can hear it any more. */
  ended(stream: DemoStream): void;
}

const jsonBody = z.record(z.string(), z.unknown());

export class DemoStream {
  readonly open: Message<'OPEN'>;
  readonly #send: SendStream;
  readonly #host: StreamHost;
  readonly #window = new ReceiveWindow(LINK.windowBytes);
  readonly #received = new GatheredBytes();
  readonly #stopped = new AbortController();
  readonly #expectedBytes: number;
  #files = 0;

  constructor(open: Message<'OPEN'>, send: SendStream, host: StreamHost) {
    this.open = open;
    this.#send = send;
    this.#host = host;
    const uploads = (open.parts ?? []).map(({ bytes }) => bytes);
    this.#expectedBytes = uploads.reduce((sum, bytes) => sum + bytes, open.body?.bytes ?? 0);
    this.#control({ t: 'ACCEPT', stream: send.id });
    if (this.#expectedBytes === 0) void this.#answer();
  }

  /** All is kept until it is whole: the coordinator limits how much that can be. */
  receive(bytes: Uint8Array): void {
    this.#window.receive(bytes.length);
    const credit = this.#window.consume(bytes.length);
    if (credit > 0) this.#host.control(encodeWindow(this.#send.id, credit));
    this.#received.append(bytes);
    if (this.#received.length === this.#expectedBytes) void this.#answer();
  }

  grant(credit: number): void {
    this.#send.grant(credit);
  }

  /** The coordinator wants no answer any more, and waits for a word back. */
  cancel(): void {
    this.#send.discard();
    this.#control({ t: 'RESET', stream: this.#send.id, code: 'CANCELED' });
    this.abandon();
  }

  /** Nobody can be told anything any more. */
  abandon(): void {
    if (this.#stopped.signal.aborted) return;
    this.#stopped.abort();
    this.#send.discard();
    this.#host.ended(this);
  }

  /** Runs beside the link; its only catch tells the coordinator why there is no answer. */
  async #answer(): Promise<void> {
    try {
      const answer = answerCall(this.#call());
      let next = await answer.next();
      for (; next.done !== true; next = await answer.next()) await this.#tell(next.value);
      const usage = next.value === null ? {} : { usage: next.value };
      this.#send.text(JSON.stringify({ t: 'END', stream: this.#send.id, ok: true, ...usage }));
      await this.#send.emptied();
    } catch (error) {
      this.#fail(error);
    }
    this.abandon();
  }

  #call(): Call {
    const { endpoint, model, body } = this.open;
    const bodyBytes = body?.bytes ?? 0;
    const { bytes } = this.#received;
    const text = bytes.subarray(0, bodyBytes).toString();
    return {
      endpoint,
      model,
      body: bodyBytes === 0 ? {} : jsonBody.parse(JSON.parse(text)),
      files: bytes.subarray(bodyBytes),
      ...this.#host.pace,
      signal: this.#stopped.signal,
    };
  }

  async #tell(piece: Piece): Promise<void> {
    this.#stopped.signal.throwIfAborted();
    const stream = this.#send.id;
    switch (piece.kind) {
      case 'progress':
        return this.#control({ t: 'PROGRESS', stream, phase: 'running', pct: piece.percent });
      case 'head':
        return this.#inTurn({ t: 'HEAD', stream, status: 200, content_type: piece.contentType });
      case 'file':
        this.#files += 1;
        return this.#inTurn({
          t: 'PART',
          stream,
          index: this.#files - 1,
          content_type: piece.contentType,
        });
      case 'data':
        this.#send.data(piece.bytes);
        return this.#send.drained();
    }
  }

  /** Where nobody listens any more, the end was told already. */
  #fail(error: unknown): void {
    if (this.#stopped.signal.aborted) return;
    this.#send.discard();
    const code = error instanceof DemoFailure ? error.code : 'INTERNAL';
    const message = error instanceof Error ? error.message : String(error);
    this.#control({ t: 'RESET', stream: this.#send.id, code, message });
  }

  /** Behind the bytes that were handed over before. */
  #inTurn(message: AgentMessage): void {
    this.#send.text(JSON.stringify(message));
  }

  #control(message: AgentMessage): void {
    this.#host.control(JSON.stringify(message));
  }
}

// Which answer belongs to which kind of endpoints. Null: the demo has no such model.

const ANSWERS: Readonly<Record<EndpointKind, ((call: Call) => Answer) | null>> = {
  chat: answerChat,
  completion: answerChat,
  transcript: answerTranscription,
  voices: () => answerVoices(advertised('kokoro-82m').voices ?? []),
  images: answerImages,
  speech: answerSpeech,
  film: null,
  music: answerMusic,
};

/** Throws a `DemoFailure` where the machine fails, or cannot do such a thing. */
function answerCall(call: Call): Answer {
  const answer = ANSWERS[ENDPOINTS[call.endpoint].kind];
  if (answer !== null) return answer(call);
  throw new DemoFailure('LOCAL_ERROR', `the demo has no answer for ${call.endpoint}`);
}
