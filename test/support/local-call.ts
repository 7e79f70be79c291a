/** A request as a backend receives it, and its answer read to the end. */
import { checkBody } from '@inference-gateway/agent/openai-wire/checked-body';
import type {
  Backend,
  DocumentAnswer,
  LocalAnswer,
  LocalCall,
  LocalUpload,
} from '@inference-gateway/agent/backends/backend';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';

export interface CallOptions {
  readonly endpoint: EndpointKey;
  readonly body?: Record<string, unknown>;
  readonly uploads?: readonly LocalUpload[];
  readonly id?: string;
  readonly servedName?: string;
  readonly signal?: AbortSignal;
}

export function localCall(options: CallOptions): LocalCall {
  const { endpoint, body = {}, uploads = [], id = 'tiny', servedName = id } = options;
  const model = {
    id,
    served_name: servedName,
    context_length: null,
    input_modalities: [],
    output_modalities: [],
    supported_features: [],
    loaded: true,
  };
  const signal = options.signal ?? new AbortController().signal;
  return { endpoint, model, body: { model: id, ...body }, uploads, requestId: 'req_test', signal };
}

/** Checks the body first, as a run does: no backend gets an unchecked body. */
export async function callChecked(backend: Backend, call: LocalCall): Promise<LocalAnswer> {
  const { endpoint } = call;
  const checked = checkBody(call.body, { endpoint, messages: backend.messages });
  if (checked.kind === 'refused') return checked.answer;
  return backend.call({ ...call, body: checked.body });
}

/** A file that arrives in pieces and can be read only once. */
export function upload(name: string, contentType: string, bytes: Buffer): LocalUpload {
  let wasRead = false;
  return {
    name,
    contentType,
    bytes: bytes.length,
    read: () => {
      if (wasRead) throw new Error(`${name} was read twice`);
      wasRead = true;
      return inPieces(bytes);
    },
  };
}

export interface DrainedFile {
  readonly contentType: string;
  readonly bytes: Buffer;
}

export async function drain(answer: LocalAnswer): Promise<DrainedFile[]> {
  if (answer.kind !== 'media') throw new Error(`not media but ${JSON.stringify(answer)}`);
  const files: DrainedFile[] = [];
  for await (const { contentType, bytes } of answer.parts) {
    const pieces: Uint8Array[] = [];
    for await (const piece of bytes) pieces.push(piece);
    files.push({ contentType, bytes: Buffer.concat(pieces) });
  }
  return files;
}

export function documentOf(answer: LocalAnswer): Record<string, unknown> {
  return JSON.parse((answer as DocumentAnswer).json) as Record<string, unknown>;
}

export function errorOf(answer: LocalAnswer): unknown {
  return documentOf(answer)['error'];
}

const PIECE_BYTES = 10_000;

async function* inPieces(bytes: Buffer): AsyncGenerator<Uint8Array> {
  for (let at = 0; at < bytes.length; at += PIECE_BYTES) yield bytes.subarray(at, at + PIECE_BYTES);
}
