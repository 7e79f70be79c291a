/**
 * The files of one answer, written as assets while they come in. Each is known by its first bytes
 * alone; what is none of the promised kind is a fault of the provider's.
 */
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { ApiError } from '@inference-gateway/shared/errors';
import {
  contentTypeOf,
  DETECT_BYTES,
  detectFormat,
  PCM,
} from '@inference-gateway/shared/media/types';
import type { MediaFamily } from '@inference-gateway/shared/media/types';
import type { Asset } from '../store/port.js';
import { asStorageError } from './byte-store.js';
import type { Draft } from './byte-store.js';

/** Whose file it is, and what made it. */
export type AssetFacts = Pick<
  Asset,
  'memberId' | 'providerId' | 'requestId' | 'model' | 'endpoint' | 'contentType'
>;

/** Where files are put, and taken away again. */
export interface Shelf {
  draft(maxBytes: number): Draft;
  /** Throws an `ApiError`, and then the draft is gone. */
  keep(draft: Draft, facts: AssetFacts): Promise<Asset>;
  drop(asset: Asset): Promise<void>;
}

export interface AnswerFilesOptions {
  readonly shelf: Shelf;
  readonly memberId: string;
  readonly requestId: string;
  readonly model: string;
  readonly endpoint: EndpointKey;
  readonly family: MediaFamily;
  /** How many files were asked for. */
  readonly most: number;
  /** What the member may still keep. */
  readonly maxBytes: number;
}

export interface KeptFile {
  readonly asset: Asset;
  readonly revisedPrompt: string | null;
}

/** Bytes of a file, on their way to its place. */
export interface Intake {
  /** The asset that the file is to become. */
  readonly assetId: string;
  /** Null as long as it cannot be told. */
  readonly contentType: string | null;
  /** From the file's first byte on; empty as long as its type cannot be told. */
  readonly bytes: Uint8Array;
  /** Resolves when they are written, or never will be. */
  readonly written: Promise<void>;
}

type Fault = string | ApiError;

interface OpenFile {
  readonly draft: Draft;
  readonly claimedType: string;
  readonly revisedPrompt: string | null;
  start: Buffer;
  contentType: string | null;
}

export class AnswerFiles {
  readonly #options: AnswerFilesOptions;
  #providerId: string | null = null;
  #files: OpenFile[] = [];
  /** Why nothing can be kept: found while bytes were being written. */
  #failure: ApiError | null = null;

  constructor(options: AnswerFilesOptions) {
    this.#options = options;
  }

  /** Another provider answers: what came before is dropped. */
  begin(providerId: string): void {
    this.discard();
    this.#providerId = providerId;
  }

  part(part: {
    readonly contentType: string;
    readonly revisedPrompt: string | null;
  }): Fault | null {
    const { shelf, most, maxBytes } = this.#options;
    if (this.#files.length >= most) return `it holds more files than the ${most} asked for`;
    const { contentType: claimedType, revisedPrompt } = part;
    const draft = shelf.draft(maxBytes);
    const start = Buffer.alloc(0);
    this.#files.push({ draft, claimedType, revisedPrompt, start, contentType: null });
    return null;
  }

  data(bytes: Uint8Array): Intake | { readonly fault: Fault } {
    const file = this.#files.at(-1);
    if (file === undefined) return { fault: 'it has bytes before its first file' };
    if (this.#failure !== null) return { fault: this.#failure };
    const written = file.draft.write(bytes).catch((error: unknown) => this.#noteOf(file, error));
    const intake = { assetId: file.draft.id, written };
    if (file.contentType !== null) return { ...intake, contentType: file.contentType, bytes };
    file.start = Buffer.concat([file.start, bytes]);
    if (file.start.length < DETECT_BYTES) return { ...intake, contentType: null, bytes: NOTHING };
    file.contentType = this.#typeOf(file);
    if (file.contentType === null) return { fault: this.#wrongKind() };
    return { ...intake, contentType: file.contentType, bytes: file.start };
  }

  /** Keeps every file, or none. */
  async end(): Promise<readonly KeptFile[] | { readonly fault: Fault }> {
    if (this.#files.length === 0) return { fault: 'it holds no file' };
    if (this.#failure !== null) return { fault: this.#failure };
    // One whose type is not told by now never will be.
    if (this.#files.some(({ contentType }) => contentType === null)) {
      return { fault: this.#wrongKind() };
    }
    const kept: KeptFile[] = [];
    try {
      for (let next = this.#files.shift(); next !== undefined; next = this.#files.shift()) {
        kept.push(await this.#keep(next));
      }
      return kept;
    } catch (error) {
      this.discard();
      await this.#removeAll(kept);
      if (error instanceof ApiError) return { fault: error };
      throw error;
    }
  }

  discard(): void {
    this.#failure = null;
    for (const { draft } of this.#files.splice(0)) void draft.discard();
  }

  async #keep({ draft, contentType, revisedPrompt }: OpenFile): Promise<KeptFile> {
    if (contentType === null) throw new Error('a file is kept before its type is known');
    const { shelf, memberId, requestId, model, endpoint } = this.#options;
    const providerId = this.#providerId;
    const facts = { memberId, providerId, requestId, model, endpoint, contentType };
    return { asset: await shelf.keep(draft, facts), revisedPrompt };
  }

  async #removeAll(kept: readonly KeptFile[]): Promise<void> {
    await Promise.all(kept.map(({ asset }) => this.#options.shelf.drop(asset)));
  }

  /** Bare samples have no first bytes that would tell them. */
  #typeOf({ start, claimedType }: OpenFile): string | null {
    const { family } = this.#options;
    const format = detectFormat(start);
    if (format !== null) return contentTypeOf(format, family);
    return family === 'audio' && claimedType.startsWith(PCM) ? PCM : null;
  }

  #wrongKind(): string {
    return `it is no ${this.#options.family}`;
  }

  /** What became of a file that was dropped meanwhile is no matter to those that came after it. */
  #noteOf(file: OpenFile, error: unknown): void {
    if (this.#files.includes(file)) this.#failure ??= asStorageError(error);
  }
}

const NOTHING = Buffer.alloc(0);
