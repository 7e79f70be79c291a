/**
 * A multipart form with files: fields first, then the files as they arrive, never held whole in
 * memory. Its length is known before its first byte, because KoboldCpp fails on a chunked body
 * after 512 chunks.
 */
import { randomUUID } from 'node:crypto';

export interface FormFile {
  readonly name: string;
  /** Made by the agent: the caller's file name could contain anything. */
  readonly filename: string;
  readonly contentType: string;
  readonly bytes: number;
  /** Called once, when this file is next. */
  read(): AsyncIterable<Uint8Array>;
}

/** The body of a request; it can be sent once. */
export interface FormBody {
  /** Includes the boundary. */
  readonly contentType: string;
  readonly bytes: number;
  readonly chunks: AsyncIterable<Uint8Array>;
}

/** A field with several values is repeated. */
export function multipartForm(
  fields: readonly (readonly [name: string, value: string])[],
  files: readonly FormFile[],
): FormBody {
  const boundary = `gateway-${randomUUID()}`;
  const begin = Buffer.from(fields.map((field) => writtenField(field, boundary)).join(''));
  const framed = files.map((file) => ({ file, head: Buffer.from(headOf(file, boundary)) }));
  const end = Buffer.from(`--${boundary}--\r\n`);
  const sizes = framed.map(({ file, head }) => head.length + file.bytes + LINE_END.length);
  return {
    contentType: `multipart/form-data; boundary=${boundary}`,
    bytes: sizes.reduce((sum, size) => sum + size, begin.length + end.length),
    chunks: chunks(),
  };

  async function* chunks(): AsyncGenerator<Uint8Array> {
    if (begin.length > 0) yield begin;
    for (const { file, head } of framed) {
      yield head;
      yield* file.read();
      yield LINE_END;
    }
    yield end;
  }
}

const LINE_END = Buffer.from('\r\n');

function writtenField([name, value]: readonly [string, string], boundary: string): string {
  const disposition = `Content-Disposition: form-data; name="${quoted(name)}"`;
  return `--${boundary}\r\n${disposition}\r\n\r\n${value}\r\n`;
}

function headOf({ name, filename, contentType }: FormFile, boundary: string): string {
  const names = `name="${quoted(name)}"; filename="${quoted(filename)}"`;
  const disposition = `Content-Disposition: form-data; ${names}`;
  return `--${boundary}\r\n${disposition}\r\nContent-Type: ${quoted(contentType)}\r\n\r\n`;
}

/** Escapes names as browsers do; a content type contains none of these characters. */
function quoted(name: string): string {
  return name.replaceAll('\r', '%0D').replaceAll('\n', '%0A').replaceAll('"', '%22');
}
