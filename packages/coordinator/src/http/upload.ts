/** Multipart bodies: read part by part, never held whole. */
import { ApiError } from '@inference-gateway/shared/errors';
import busboy from 'busboy';
import type { IncomingMessage } from 'node:http';
import type { Context } from './context.js';

/** Specification, section 8: 25 MB for each file. */
const MAX_FILE_BYTES = 26_214_400;
const MAX_FIELD_BYTES = 1024 * 1024;
const MAX_FIELDS = 64;
const MAX_FILES = 16;

/** Reads the text fields of an upload; its files are counted and passed over. */
export async function readUploadFields(ctx: Context): Promise<ReadonlyMap<string, string>> {
  const fields = new Map<string, string>();
  let tooLarge: string | null = null;
  const parser = createParser(ctx);
  parser.on('field', (name, value) => fields.set(name, value));
  parser.on('file', (name, stream) => {
    stream.on('limit', () => {
      tooLarge = name;
    });
    stream.resume();
  });
  try {
    await parse(ctx.req, parser);
  } catch (cause) {
    const message = `The multipart body cannot be read: ${(cause as Error).message}.`;
    throw new ApiError('invalid_multipart', message);
  }
  if (tooLarge !== null) throw fileTooLarge(tooLarge);
  return fields;
}

/** Not `pipeline`: it destroys the request, and the caller's next one on it would wait. */
function parse(request: IncomingMessage, parser: busboy.Busboy): Promise<void> {
  return new Promise((resolve, reject) => {
    const fail = (error: Error): void => {
      request.unpipe(parser).resume();
      reject(error);
    };
    parser.once('close', resolve).once('error', fail);
    request.once('error', fail).pipe(parser);
  });
}

function createParser(ctx: Context): busboy.Busboy {
  const type = ctx.get('content-type');
  if (!type.toLowerCase().startsWith('multipart/form-data')) {
    const message = `The content type '${type}' is not supported here. Send multipart/form-data.`;
    throw new ApiError('unsupported_content_type', message);
  }
  try {
    return busboy({
      headers: ctx.req.headers,
      defParamCharset: 'utf8',
      limits: {
        // busboy calls a file cut off that is exactly as long as its limit.
        fileSize: MAX_FILE_BYTES + 1,
        fieldSize: MAX_FIELD_BYTES,
        fields: MAX_FIELDS,
        files: MAX_FILES,
      },
    });
  } catch (cause) {
    throw new ApiError('invalid_multipart', `${(cause as Error).message}.`);
  }
}

function fileTooLarge(param: string): ApiError {
  const message = `The file '${param}' is larger than ${MAX_FILE_BYTES} bytes. Send a smaller one.`;
  return new ApiError('file_too_large', message, { param });
}
