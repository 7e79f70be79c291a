/** Uploads written by hand over a raw socket, and the number of files that the gateway spools. */
import { readdir } from 'node:fs/promises';
import { join } from 'node:path';
import { RawCaller } from './raw-caller.js';
import type { CalledGateway } from './raw-caller.js';

const BOUNDARY = 'gateway-test';
const HEAD =
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="model"\r\n\r\nplain\r\n` +
  `--${BOUNDARY}\r\nContent-Disposition: form-data; name="file"; filename="a.wav"\r\n\r\n`;
const TAIL = `\r\n--${BOUNDARY}--\r\n`;
export const TRANSCRIPTIONS = '/v1/audio/transcriptions';

/** Begins a transcription; its body is chunked unless `bodyBytes` announces its length. */
export function beginUpload(gateway: CalledGateway, bodyBytes?: number): RawCaller {
  return new RawCaller(gateway).head(`POST ${TRANSCRIPTIONS}`, {
    authorization: `Bearer ${gateway.anna.key}`,
    'content-type': `multipart/form-data; boundary=${BOUNDARY}`,
    ...(bodyBytes === undefined
      ? { 'transfer-encoding': 'chunked' }
      : { 'content-length': bodyBytes }),
  });
}

/** The complete body of a transcription with this file. */
export function uploadBody(file: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(HEAD), file, Buffer.from(TAIL)]);
}

/** The body up to the middle of the file. */
export function halfBody(file: Uint8Array): Buffer {
  return Buffer.concat([Buffer.from(HEAD), file.subarray(0, file.length / 2)]);
}

/** One chunk of a chunked body, in bytes. */
export function chunkOf(bytes: Uint8Array): Buffer {
  const size = Buffer.from(`${bytes.length.toString(16)}\r\n`);
  return Buffer.concat([size, bytes, Buffer.from('\r\n')]);
}

/** Number of uploaded files on disk. */
export async function spooled(dataDir: string): Promise<number> {
  return (await readdir(join(dataDir, 'uploads'))).length;
}
