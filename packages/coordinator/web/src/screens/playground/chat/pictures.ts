/** Pictures that are put into a message. */
import { Fault } from '../../../api/fault.js';
import { formatBytes } from '../../../ui/text/format.js';
import type { Picture } from './conversation.js';

export const PICTURE_TYPES = ['image/png', 'image/jpeg', 'image/webp', 'image/gif'];

/** A request may have 32 MiB, and base64 makes four bytes of three. */
const MAX_BYTES = 8 * 1024 * 1024;
export const MAX_PICTURES = 4;

/** Throws a `Fault` that says which of them cannot be sent. */
export async function readPictures(files: readonly File[], room: number): Promise<Picture[]> {
  if (files.length > room)
    throw problem(`A message takes ${MAX_PICTURES} pictures. Leave some out.`);
  for (const { name, type, size } of files) {
    if (!PICTURE_TYPES.includes(type)) {
      throw problem(`${name} is no picture that models read. Take PNG, JPEG, WebP or GIF.`);
    }
    if (size > MAX_BYTES) {
      const limit = formatBytes(MAX_BYTES);
      throw problem(`${name} has ${formatBytes(size)}; ${limit} are allowed. Make it smaller.`);
    }
  }
  return Promise.all(files.map(async (file) => ({ name: file.name, url: await dataUrl(file) })));
}

function problem(message: string): Fault {
  return new Fault(message, { code: 'page' });
}

function dataUrl(file: Blob): Promise<string> {
  return new Promise((done, failed) => {
    const reader = new FileReader();
    reader.addEventListener('load', () => done(reader.result as string));
    reader.addEventListener('error', () =>
      failed(problem('The picture cannot be read. Take another.')),
    );
    reader.readAsDataURL(file);
  });
}
