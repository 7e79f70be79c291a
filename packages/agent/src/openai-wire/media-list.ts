/** `{data: [{b64_json | url, revised_prompt?}]}`, as servers write the files that they made. */
import { LocalFailure } from '../backends/backend.js';
import { asObject, asObjects, asText, parseJson } from './json.js';
import type { JsonObject } from './json.js';
import { readReportedError } from './error-document.js';
import type { ReportedError } from './error-document.js';

/** OpenAI's own prompts are not longer. */
const MAX_PROMPT_CHARACTERS = 4_000;

/** In base64, or at an address. */
export type ListedFile = { readonly revisedPrompt: string | null } & (
  { readonly base64: string; readonly url: null } | { readonly base64: null; readonly url: string }
);

type MediaList =
  { readonly files: readonly [ListedFile, ...ListedFile[]] } | { readonly error: ReportedError };

/** Throws a `LocalFailure` if the answer is not such a list. */
export function readMediaList(text: string): MediaList {
  const said = asObject(parseJson(text));
  const list = said?.['data'] ?? said?.['images'];
  const error = Array.isArray(list) ? null : readReportedError(said);
  if (error !== null) return { error };
  // Servers that make a single file may omit the list around it.
  const items = Array.isArray(list) ? asObjects(list) : asObjects([said]);
  const [first, ...others] = items.map(readFile);
  if (first !== undefined) return { files: [first, ...others] };
  throw new LocalFailure('LOCAL_ERROR', 'the local server answered JSON without a file.');
}

function readFile(item: JsonObject): ListedFile {
  const bytes = asText(item['b64_json']);
  const url = asText(item['url']);
  const revisedPrompt = asText(item['revised_prompt'])?.slice(0, MAX_PROMPT_CHARACTERS) ?? null;
  // Some servers write their base64 as a data: URL, in either field.
  const written = bytes ?? (url !== null && isDataUrl(url) ? url : null);
  if (written !== null) return { base64: withoutPrefix(written), url: null, revisedPrompt };
  if (url !== null) return { base64: null, url, revisedPrompt };
  throw new LocalFailure('LOCAL_ERROR', 'the local server answered JSON without a file.');
}

function withoutPrefix(written: string): string {
  return isDataUrl(written) ? written.slice(written.indexOf(',') + 1) : written;
}

function isDataUrl(text: string): boolean {
  return text.slice(0, 5).toLowerCase() === 'data:';
}
