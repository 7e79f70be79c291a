/** A plain text as the body of a request. */
import { inPieces } from './in-pieces.js';
import type { FormBody } from './multipart.js';

export function plainBody(text: string): FormBody {
  const bytes = Buffer.from(text);
  return { contentType: 'text/plain; charset=utf-8', bytes: bytes.length, chunks: inPieces(bytes) };
}
