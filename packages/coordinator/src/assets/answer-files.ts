/**
 * Writes the files of one answer as assets while they arrive. The type of a file is detected from
 * its first bytes. A file of another kind than the endpoint promises is a fault of the provider.
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

/** The owner of a file, and what generated it. */
export type AssetFacts = Pick<
  Asset,
  'memberId' | 'keyId' | 'providerId' | 'requestId' | 'model' | 'endpoint' | 'contentType'
>;

/** Stores files and removes them. */
export interface Shelf {
  draft(maxBytes: number): Draft;
  /** `excerpt`: of its request. Throws an `ApiError`; the draft is then discarded. */
  keep(draft: Draft, facts: AssetFacts, excerpt?: string | null): Promise<Asset>;
  drop(asset: Asset): Promise<void>;
}

export interface AnswerFilesOptions {
  readonly shelf: Shelf;
  readonly memberId: string;
  readonly keyId: string;
  readonly requestId: string;
  readonly endpoint: EndpointKey;
  /** Of the request; absent: there is none, or the store has it. */
  readonly excerpt?: string | null;
  readonly family: MediaFamily;
  /** The number of requested files. */
  readonly most: number;
  /** The remaining space of the member. */
  readonly maxBytes: number;
}

export interface KeptFile {
  readonly asset: Asset;
  readonly revisedPrompt: string | null;
}

/** Bytes of a file on their way into the store. */
export interface Intake {
  /** The id of the future asset. */
  readonly assetId: string;
  /** Null until the type is detected. */
  readonly contentType: string | null;
  /** Starts with the file's first byte. Empty until the type is detected. */
  readonly bytes: Uint8Array;
  /** Resolves after the bytes are written, or after writing has failed. */
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
  #maker: { readonly providerId: string; readonly model: string } | null = null;
  #files: OpenFile[] = [];
  /** The first error while writing; no file can be stored after it. */
  #failure: ApiError | null = null;

  constructor(options: AnswerFilesOptions) {
    this.#options = options;
  }

  /** Another provider answers: discards the files of the previous one. */
  begin({ providerId, model }: { readonly providerId: string; readonly model: string }): void {
    this.discard();
    this.#maker = { providerId, model };
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

  /** Stores either all files or none. */
  async end(): Promise<readonly KeptFile[] | { readonly fault: Fault }> {
    if (this.#files.length === 0) return { fault: 'it holds no file' };
    if (this.#failure !== null) return { fault: this.#failure };
    // A type that is not detected by now stays unknown.
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
    const { shelf, memberId, keyId, requestId, endpoint, excerpt = null } = this.#options;
    const maker = this.#maker;
    if (contentType === null) throw new Error('a file is kept before its type is known');
    if (maker === null) throw new Error('a file is kept that no provider has made');
    const facts = { memberId, keyId, ...maker, requestId, endpoint, contentType };
    return { asset: await shelf.keep(draft, facts, excerpt), revisedPrompt };
  }

  async #removeAll(kept: readonly KeptFile[]): Promise<void> {
    await Promise.all(kept.map(({ asset }) => this.#options.shelf.drop(asset)));
  }

  /** Headerless PCM has no first bytes that show its type. */
  #typeOf({ start, claimedType }: OpenFile): string | null {
    const { family } = this.#options;
    const format = detectFormat(start);
    if (format !== null) return contentTypeOf(format, family);
    return family === 'audio' && claimedType.startsWith(PCM) ? PCM : null;
  }

  #wrongKind(): string {
    return `it is no ${this.#options.family}`;
  }

  /** Errors of a discarded file do not affect later files. */
  #noteOf(file: OpenFile, error: unknown): void {
    if (this.#files.includes(file)) this.#failure ??= asStorageError(error);
  }
}

const NOTHING = Buffer.alloc(0);
