/** A call that is sent repeatedly, and the answers that it accepts. */
import { assertNever } from '@inference-gateway/shared/assert';
import type { AnswerGlimpse } from './answer-glimpse.js';
import { jsonRequest, submission } from './chat-request.js';
import { IMAGE_BYTES, NUMBER_BYTES, VECTORS } from './job.js';
import type { Call, Target } from './job.js';
import { imageRequest, uploadRequest, vectorsRequest } from './media-request.js';

export interface PreparedCall {
  readonly request: Buffer;
  /** Throws if data was lost on the way: the time would mean nothing. */
  readonly check: ((answer: AnswerGlimpse) => void) | null;
}

export async function prepareCall(target: Target, call: Call): Promise<PreparedCall> {
  switch (call.kind) {
    case 'chat':
      return { request: jsonRequest(target), check: null };
    case 'submission':
      return { request: submission(target), check: null };
    case 'upload': {
      const request = await uploadRequest(target, call.fileBytes);
      return { request, check: (answer) => checkHeard(answer, call.fileBytes) };
    }
    case 'image':
      return { request: imageRequest(target), check: checkSize };
    case 'vectors':
      return { request: vectorsRequest(target), check: checkVectors };
    default:
      return assertNever(call);
  }
}

/** The mock's transcript says how many bytes of a form arrived. */
function checkHeard({ start }: AnswerGlimpse, fileBytes: number): void {
  const heard = Number(/"text": ?"(\d+) bytes"/.exec(start)?.[1] ?? Number.NaN);
  if (heard >= fileBytes) return;
  throw new Error(`of a file of ${fileBytes} bytes, the model server's answer was ${start}`);
}

function checkVectors({ bytes, start }: AnswerGlimpse): void {
  if (bytes >= VECTORS.texts * VECTORS.dimensions * NUMBER_BYTES) return;
  throw new Error(`an answer of ${bytes} bytes is not all vectors: ${start}`);
}

/** Base64 writes three bytes as four. */
function checkSize({ bytes, start }: AnswerGlimpse): void {
  if (bytes >= (IMAGE_BYTES * 4) / 3 && start.includes('b64_json')) return;
  throw new Error(`an answer of ${bytes} bytes is not the image: ${start}`);
}
