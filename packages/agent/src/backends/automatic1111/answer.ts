/** The answer of `/sdapi/v1/txt2img` and `img2img`. */
import { LocalFailure } from '../backend.js';
import type { DocumentAnswer } from '../backend.js';
import { errorDocument } from '../../openai-wire/error-document.js';
import { asObject, asText, parseJson } from '../../openai-wire/json.js';
import { readReportedError } from '../../openai-wire/reported-error.js';

/**
 * The images that were asked for, in base64. Grids come before them and what extensions made, such
 * as depth maps, behind. Throws a `LocalFailure` where there is none.
 */
export function readImages(text: string, count: number): string[] {
  const { images, info } = asObject(parseJson(text)) ?? {};
  const all = Array.isArray(images) ? images.map(asText).filter((image) => image !== null) : [];
  const first = firstImage(info) ?? (all.length > count ? 1 : 0);
  const asked = all.slice(first, first + count).map(withoutPrefix);
  if (asked.length > 0) return asked;
  throw new LocalFailure('LOCAL_ERROR', 'the local server answered without an image.');
}

/**
 * `{error, detail, body, errors}`: the first names a Python class, and what happened stands in
 * `detail` or, for what nobody foresaw, in `errors`.
 */
export function readFailure(status: number, text: string): DocumentAnswer {
  const said = asObject(parseJson(text));
  if (said === null || typeof said['error'] !== 'string') return errorDocument(status, text);
  const { error, detail, errors } = said;
  const told = detail === '' ? null : readReportedError({ detail })?.message;
  return errorDocument(status, JSON.stringify({ error: told ?? asText(errors) ?? error }));
}

/** The server counts the grids that it put first. Null in forks that do not. */
function firstImage(info: unknown): number | null {
  const facts = asObject(typeof info === 'string' ? parseJson(info) : info);
  const index = facts?.['index_of_first_image'];
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : null;
}

/** Some forks write data URLs. */
function withoutPrefix(image: string): string {
  return image.startsWith('data:') ? image.slice(image.indexOf(',') + 1) : image;
}
