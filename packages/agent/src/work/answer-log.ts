/**
 * What a job's run has said, from its first word to its last: bytes, and messages at their places
 * among the bytes. It can be said again from the start, on any link, while it still grows.
 */
import type { Message, ResetCode, TokenUsage } from '@inference-gateway/shared/protocol/messages';
import type { MediaPart } from '../backends/backend.js';
import type { AnswerBytes } from './answer-bytes.js';
import type { Unaddressed } from './work.js';

/** A message of the answer. END or RESET is the last. */
export type AnswerMessage = Extract<Unaddressed, { t: 'HEAD' | 'PART' | 'END' | 'RESET' }>;
export type Failure = Omit<Message<'RESET'>, 'stream'>;

export interface Mark {
  /** How many bytes come before it. */
  readonly at: number;
  readonly message: AnswerMessage;
}

export class AnswerLog {
  readonly #newBytes: () => AnswerBytes;
  #bytes: AnswerBytes;
  #marks: Mark[];
  #parts = 0;
  readonly #listeners = new Set<() => void>();

  /** `found` is what an earlier process recorded. */
  constructor(newBytes: () => AnswerBytes, found?: { bytes: AnswerBytes; marks: Mark[] }) {
    this.#newBytes = newBytes;
    this.#bytes = found?.bytes ?? newBytes();
    this.#marks = found?.marks ?? [];
  }

  get marks(): readonly Mark[] {
    return this.#marks;
  }

  get length(): number {
    return this.#bytes.length;
  }

  get sha256(): string {
    return this.#bytes.sha256;
  }

  /** Whether the last word has been said. */
  get isWhole(): boolean {
    const last = this.#marks.at(-1)?.message.t;
    return last === 'END' || last === 'RESET';
  }

  /** Why there is no answer: it takes the place of everything that was said before it. */
  get failure(): Failure | null {
    const first = this.#marks[0]?.message;
    return first?.t === 'RESET' ? first : null;
  }

  head(status: number, contentType: string): void {
    this.#say({ t: 'HEAD', status, content_type: contentType });
  }

  part({ contentType, revisedPrompt }: MediaPart): void {
    this.#say({
      t: 'PART',
      index: this.#parts++,
      content_type: contentType,
      ...(revisedPrompt !== null && { revised_prompt: revisedPrompt }),
    });
  }

  /** Resolves when there is room for more; throws `SpoolFull` where there is none. */
  async data(bytes: Uint8Array): Promise<void> {
    if (this.isWhole) return;
    const taken = this.#bytes.append(bytes);
    this.#changed();
    await taken;
  }

  end(usage: TokenUsage | null): void {
    this.#say(usage === null ? { t: 'END', ok: true } : { t: 'END', ok: true, usage });
  }

  fail(code: ResetCode, message: string): void {
    void this.#bytes.remove();
    this.#bytes = this.#newBytes();
    this.#marks = [{ at: 0, message: { t: 'RESET', code, message: message.slice(0, 2_000) } }];
    this.#changed();
  }

  read(from: number, to: number): Promise<Uint8Array> {
    return this.#bytes.read(from, to);
  }

  /** Brings to disk what is in memory. */
  write(): Promise<void> {
    return this.#bytes.write();
  }

  /** Makes a whole answer survive the process. False where there is no disk for it. */
  keep(meta: string): Promise<boolean> {
    return this.#bytes.keep(meta);
  }

  close(): Promise<void> {
    return this.#bytes.close();
  }

  /** Nobody wants it any more. */
  remove(): Promise<void> {
    return this.#bytes.remove();
  }

  /** Calls back whenever something was said. Returns how to stop it. */
  onChange(listener: () => void): () => void {
    this.#listeners.add(listener);
    return () => this.#listeners.delete(listener);
  }

  #say(message: AnswerMessage): void {
    if (this.isWhole) return;
    this.#marks.push({ at: this.length, message });
    this.#changed();
  }

  #changed(): void {
    for (const listener of this.#listeners) listener();
  }
}
