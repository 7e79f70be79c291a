/** `{data: [{b64_json | url, revised_prompt?}]}`, as servers write the files that they made. */
import { LocalFailure } from '../backends/backend.js';
import { asObject, asObjects, asText } from './json.js';
import type { JsonObject } from './json.js';
import { isDataUrl, JsonWithFiles, withoutPrefix } from './json-with-files.js';
import type { DecodedFile } from './json-with-files.js';
import { readReportedError } from './error-document.js';
import type { ReportedError } from './error-document.js';

/** OpenAI's own prompts are not longer. */
const MAX_PROMPT_CHARACTERS = 4_000;

/** Base64, decoded if it was long; or an address. */
export type ListedFile = { readonly revisedPrompt: string | null } & (
  | { readonly base64: string | DecodedFile; readonly url: null }
  | { readonly base64: null; readonly url: string }
);

type MediaList =
  { readonly files: readonly [ListedFile, ...ListedFile[]] } | { readonly error: ReportedError };

/** Throws a `LocalFailure` if the answer is not such a list. */
export async function readMediaList(body: AsyncIterable<Uint8Array>): Promise<MediaList> {
  const document = new JsonWithFiles();
  for await (const piece of body) document.add(piece);
  const { value, fileOf } = document.end();
  const said = asObject(value);
  const list = said?.['data'] ?? said?.['images'];
  const error = Array.isArray(list) ? null : readReportedError(said);
  if (error !== null) return { error };
  // Servers that make a single file may omit the list around it.
  const items = Array.isArray(list) ? asObjects(list) : asObjects([said]);
  const [first, ...others] = items.map((item) => readFile(item, fileOf));
  if (first !== undefined) return { files: [first, ...others] };
  throw new LocalFailure('LOCAL_ERROR', 'the local server answered JSON without a file.');
}

function readFile(item: JsonObject, fileOf: (value: unknown) => DecodedFile | null): ListedFile {
  const bytes = asText(item['b64_json']);
  const url = asText(item['url']);
  const revisedPrompt = asText(item['revised_prompt'])?.slice(0, MAX_PROMPT_CHARACTERS) ?? null;
  // Some servers write their base64 in either field.
  const written = bytes ?? (url !== null && isDataUrl(url) ? url : null);
  const base64 =
    fileOf(item['b64_json']) ??
    fileOf(item['url']) ??
    (written === null ? null : withoutPrefix(written));
  if (base64 !== null) return { base64, url: null, revisedPrompt };
  if (url !== null) return { base64: null, url, revisedPrompt };
  throw new LocalFailure('LOCAL_ERROR', 'the local server answered JSON without a file.');
}
