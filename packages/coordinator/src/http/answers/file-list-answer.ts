/**
 * Files as a JSON list: their URLs, or the files in base64 (specification, section 2,
 * ImageResponse). They are stored as assets in either case, and read from there.
 */
import { measureFiles, NOTHING_MEASURED } from '../../assets/measures.js';
import type { Asset } from '../../store/port.js';
import type { KeptFile } from '../../assets/answer-files.js';
import type { AnswerPart } from '../../core/routing/links.js';
import type { Answerer, SinkFault } from '../../run/work.js';
import { setAnswerHead } from './answer.js';
import type { HttpAnswer } from './answer.js';
import { JSON_TYPE } from './json-answer.js';
import type { MediaParts } from './file-answer.js';
import { sendStored } from './paced-response.js';

/** The form of a file: its URL, or its bytes. */
export type FileForm = 'url' | 'b64_json';

/** Text, or an asset in base64. */
type Piece = string | Asset;

export class FileListAnswer implements HttpAnswer {
  committed = false;
  measures = NOTHING_MEASURED;
  readonly #parts: MediaParts;
  readonly #forms: readonly FileForm[];
  #answerer: Answerer | null = null;

  constructor(parts: MediaParts, forms: readonly FileForm[]) {
    this.#parts = parts;
    this.#forms = forms;
  }

  begin(answerer: Answerer): void {
    this.#answerer = answerer;
    this.#parts.files.begin(answerer);
  }

  part(part: AnswerPart): SinkFault {
    return this.#parts.files.part(part);
  }

  data(bytes: Uint8Array, consumed: (bytes: number) => void): SinkFault {
    const intake = this.#parts.files.data(bytes);
    if ('fault' in intake) return intake.fault;
    void intake.written.then(() => consumed(bytes.length));
    return null;
  }

  async end(): Promise<SinkFault> {
    const kept = await this.#parts.files.end();
    if ('fault' in kept) return kept.fault;
    this.measures = measureFiles(kept);
    await this.#send(this.#document(kept));
    return null;
  }

  fail(error: unknown): boolean {
    this.#parts.files.discard();
    return error === null;
  }

  #document(kept: readonly KeptFile[]): Piece[] {
    const created = Math.floor(this.#parts.now() / 1000);
    const items = kept.flatMap((file, i): Piece[] => [i === 0 ? '' : ',', ...this.#item(file)]);
    return [`{"created":${created},"data":[`, ...items, ']}'];
  }

  #item({ asset, revisedPrompt }: KeptFile): Piece[] {
    const prompt =
      revisedPrompt === null ? '' : `,"revised_prompt":${JSON.stringify(revisedPrompt)}`;
    const forms = this.#forms.flatMap((form, i) => [
      i === 0 ? '' : ',',
      ...this.#form(form, asset),
    ]);
    return ['{', ...forms, `${prompt}}`];
  }

  #form(form: FileForm, asset: Asset): Piece[] {
    if (form === 'b64_json') return ['"b64_json":"', asset, '"'];
    return [`"url":${JSON.stringify(this.#parts.urlOf(asset.id))}`];
  }

  async #send(pieces: readonly Piece[]): Promise<void> {
    const { response, timing, library } = this.#parts;
    setAnswerHead(response, this.#answerer, JSON_TYPE);
    this.committed = true;
    const bytes = pieces.reduce((sum, piece) => sum + lengthOf(piece), 0);
    const stallMs = timing.stallMs;
    await sendStored(response, { bytes, stallMs, pieces: bytesOf(pieces, library) });
  }
}

function lengthOf(piece: Piece): number {
  return typeof piece === 'string' ? Buffer.byteLength(piece) : base64Length(piece.bytes);
}

async function* bytesOf(
  pieces: readonly Piece[],
  library: MediaParts['library'],
): AsyncGenerator<Uint8Array> {
  for (const piece of pieces) {
    if (typeof piece === 'string') yield Buffer.from(piece);
    else yield* toBase64(library.read(piece));
  }
}

// Base64 of bytes in pieces, so that no file is held in memory.

/** Three bytes are four characters; the last group is padded. */
export function base64Length(bytes: number): number {
  return Math.ceil(bytes / 3) * 4;
}

export async function* toBase64(pieces: AsyncIterable<Uint8Array>): AsyncGenerator<Buffer> {
  let rest: Buffer = Buffer.alloc(0);
  for await (const piece of pieces) {
    const bytes: Buffer =
      rest.length === 0
        ? Buffer.from(piece.buffer, piece.byteOffset, piece.byteLength)
        : Buffer.concat([rest, piece]);
    const whole = bytes.length - (bytes.length % 3);
    yield Buffer.from(bytes.toString('base64', 0, whole), 'latin1');
    rest = bytes.subarray(whole);
  }
  if (rest.length > 0) yield Buffer.from(rest.toString('base64'), 'latin1');
}
