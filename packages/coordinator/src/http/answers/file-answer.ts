/**
 * The bytes of one file, as they arrive; they are also stored as the caller's asset. A WAV without
 * a length in its header, because it was streamed, is held until it is complete and its header is
 * corrected: players rely on the header.
 */
import type { ServerResponse } from 'node:http';
import { measureFiles, NOTHING_MEASURED } from '../../assets/measures.js';
import type { ApiError } from '@inference-gateway/shared/errors';
import { hasPlaceholderLength } from '@inference-gateway/shared/media/wav-header';
import type { Intake, KeptFile, AnswerFiles } from '../../assets/answer-files.js';
import type { AnswerPart } from '../../core/routing/links.js';
import type { Answerer, SinkFault } from '../../run/work.js';
import { SentSound } from '../../media/sent-sound.js';
import type { AssetLibrary } from '../../assets/asset-library.js';
import { setAnswerHead } from './answer.js';
import type { HttpAnswer } from './answer.js';
import { PacedResponse, sendStored } from './paced-response.js';
import type { PaceTiming } from './paced-response.js';

export class FileAnswer implements HttpAnswer {
  committed = false;
  measures = NOTHING_MEASURED;
  readonly #parts: MediaParts;
  readonly #paced: PacedResponse;
  #answerer: Answerer | null = null;
  /** Null until the file is known. */
  #isHeld: boolean | null = null;
  #sent: SentSound | null = null;

  /** `stalled` is called once when the caller has stopped reading. */
  constructor(parts: MediaParts, stalled: () => void) {
    this.#parts = parts;
    this.#paced = new PacedResponse(parts.response, parts.timing, stalled);
  }

  begin(answerer: Answerer): void {
    this.#answerer = answerer;
    this.#isHeld = null;
    this.#parts.files.begin(answerer);
  }

  part(part: AnswerPart): SinkFault {
    return this.#parts.files.part(part);
  }

  data(bytes: Uint8Array, consumed: (bytes: number) => void): SinkFault {
    const intake = this.#parts.files.data(bytes);
    if ('fault' in intake) return intake.fault;
    this.#pass(intake);
    void intake.written.then(() => this.#paced.whenTaken(() => consumed(bytes.length)));
    return null;
  }

  async end(): Promise<SinkFault> {
    const kept = await this.#parts.files.end();
    if ('fault' in kept) {
      if (!this.committed) return kept.fault;
      // The caller has the whole file; only the stored copy is missing.
      this.#parts.response.end();
      return null;
    }
    this.measures = measureFiles(kept);
    const [file] = kept;
    if (this.committed || file === undefined) this.#parts.response.end();
    else await this.#sendHeld(file);
    return null;
  }

  /** Sent bytes cannot be taken back: the connection is cut, so that the file looks incomplete. */
  fail(error: ApiError | null): boolean {
    this.#parts.files.discard();
    if (!this.committed) return error === null;
    this.#parts.response.destroy();
    return true;
  }

  #pass({ bytes, contentType, assetId }: Intake): void {
    if (contentType === null) return;
    this.#isHeld ??= contentType === 'audio/wav' && hasPlaceholderLength(bytes);
    if (this.#isHeld) return;
    if (!this.committed) this.#setHeaders(contentType, assetId);
    this.committed = true;
    // They are metered if the rest does not arrive.
    this.#sent ??= new SentSound(contentType);
    this.#sent.add(bytes);
    this.measures = { audioMs: this.#sent.ms, images: 0 };
    this.#paced.write(bytes);
  }

  async #sendHeld({ asset }: KeptFile): Promise<void> {
    const { response, timing, library } = this.#parts;
    this.#setHeaders(asset.contentType, asset.id);
    this.committed = true;
    const { bytes } = asset;
    await sendStored(response, {
      bytes,
      pieces: library.read(asset),
      stallMs: timing.stallMs,
    });
  }

  #setHeaders(contentType: string, assetId: string): void {
    const { response, urlOf } = this.#parts;
    setAnswerHead(response, this.#answerer, contentType);
    response.setHeader('x-asset-url', urlOf(assetId));
  }
}

/** Dependencies of file answers. */
export interface MediaParts {
  readonly response: ServerResponse;
  readonly timing: PaceTiming;
  readonly files: AnswerFiles;
  readonly library: AssetLibrary;
  /** The URL of an asset. */
  readonly urlOf: (assetId: string) => string;
  /** Unix ms. */
  readonly now: () => number;
}
