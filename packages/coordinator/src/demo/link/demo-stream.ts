/** One request on a demo machine's link: receives its body, and sends an answer. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import type { EndpointKind } from '@inference-gateway/shared/endpoints';
import { GatheredBytes } from '@inference-gateway/shared/json/gathered-bytes';
import type { AgentEndStream, AgentWork } from '@inference-gateway/shared/protocol/link';
import { costOf } from '@inference-gateway/shared/protocol/messages';
import type { Message } from '@inference-gateway/shared/protocol/messages';
import * as z from 'zod';
import { DemoFailure } from '../answers/answer.js';
import type { Call, Piece, Answer } from '../answers/answer.js';
import { answerChat } from '../answers/chat.js';
import { answerMusic, answerSpeech, answerTranscription, answerVoices } from '../answers/audio.js';
import { answerImages } from '../answers/images.js';
import { advertised } from '../models.js';

interface DemoWork {
  readonly open: Message<'OPEN'>;
  readonly pace: Pick<Call, 'random' | 'tokensPerSecond'>;
  /** Its energy so far; null: unknown. */
  readonly joules: () => number | null;
  /** Called when the work has ended or was abandoned. */
  readonly ended: (stream: DemoStream) => void;
}

const jsonBody = z.record(z.string(), z.unknown());

export class DemoStream implements AgentWork {
  readonly stream: AgentEndStream;
  readonly #work: DemoWork;
  readonly #received = new GatheredBytes();
  readonly #stopped = new AbortController();
  readonly #expectedBytes: number;
  #files = 0;

  constructor(stream: AgentEndStream, work: DemoWork) {
    this.stream = stream;
    this.#work = work;
    const { open } = work;
    const uploads = (open.parts ?? []).map(({ bytes }) => bytes);
    this.#expectedBytes = uploads.reduce((sum, bytes) => sum + bytes, open.body?.bytes ?? 0);
    stream.say({ t: 'ACCEPT' });
    if (this.#expectedBytes === 0) void this.#answer();
  }

  get open(): Message<'OPEN'> {
    return this.#work.open;
  }

  /** Keeps the body until it is complete: the coordinator limits its size. */
  receive(bytes: Uint8Array): void {
    this.stream.consumed(bytes.length);
    this.#received.append(bytes);
    if (this.#received.length === this.#expectedBytes) void this.#answer();
  }

  /** The coordinator has canceled the call, and waits for this reply. */
  cancel(): void {
    this.stream.say({ t: 'RESET', code: 'CANCELED' });
    this.abandon();
  }

  /** Ends the stream without a message. */
  abandon(): void {
    if (this.#stopped.signal.aborted) return;
    this.#stopped.abort();
    this.stream.close();
    this.#work.ended(this);
  }

  /** Runs concurrently with the link. Reports all its errors to the coordinator. */
  async #answer(): Promise<void> {
    try {
      const answer = answerCall(this.#call());
      let next = await answer.next();
      for (; next.done !== true; next = await answer.next()) await this.#tell(next.value);
      const cost = costOf({ usage: next.value, energy_j: this.#work.joules() });
      this.stream.sayInOrder({ t: 'END', ok: true, ...cost });
      await this.stream.out.emptied();
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
      ...this.#work.pace,
      signal: this.#stopped.signal,
    };
  }

  async #tell(piece: Piece): Promise<void> {
    this.#stopped.signal.throwIfAborted();
    switch (piece.kind) {
      case 'progress':
        return this.stream.say({ t: 'PROGRESS', phase: 'running', pct: piece.percent });
      case 'head':
        return this.stream.sayInOrder({
          t: 'HEAD',
          status: 200,
          content_type: piece.contentType,
        });
      case 'file':
        this.#files += 1;
        return this.stream.sayInOrder({
          t: 'PART',
          index: this.#files - 1,
          content_type: piece.contentType,
        });
      case 'data':
        this.stream.out.data(piece.bytes);
        return this.stream.out.drained();
    }
  }

  /** Sends RESET with the error, unless the stream was stopped: then its end is already known. */
  #fail(error: unknown): void {
    if (this.#stopped.signal.aborted) return;
    const code = error instanceof DemoFailure ? error.code : 'INTERNAL';
    const message = error instanceof Error ? error.message : String(error);
    this.stream.say({ t: 'RESET', code, message });
  }
}

// The answer for each kind of endpoint. Null: the demo has no such model.

const ANSWERS: Readonly<Record<EndpointKind, ((call: Call) => Answer) | null>> = {
  chat: answerChat,
  count: null,
  completion: answerChat,
  transcript: answerTranscription,
  translation: null,
  voices: () => answerVoices(advertised('kokoro-82m').voices ?? []),
  images: answerImages,
  speech: answerSpeech,
  film: null,
  music: answerMusic,
  embeddings: null,
  rerank: null,
};

/** Throws a `DemoFailure` if the machine fails, or has no such model. */
function answerCall(call: Call): Answer {
  const answer = ANSWERS[ENDPOINTS[call.endpoint].kind];
  if (answer !== null) return answer(call);
  throw new DemoFailure('LOCAL_ERROR', `the demo has no answer for ${call.endpoint}`);
}
