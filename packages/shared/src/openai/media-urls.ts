/**
 * Media are sent to a home machine only as `data:` URLs. A model server would fetch any other URL
 * from inside the home network (seen: llama-server requests loopback addresses), so both ends
 * refuse them. Keys are compared like in Go (`fold-name.ts`).
 */
import { foldName } from './fold-name.js';

/**
 * A value that is still to be visited, with its parents; paths are built only for errors.
 */
interface Visit {
  readonly value: unknown;
  readonly key: string | number;
  /** Whether the value, or its array, belongs to a key for URLs. */
  readonly isUrl: boolean;
  readonly parent: Visit | null;
}

/**
 * The first media URL in the messages that is not a `data:` URL, as the path of its field:
 * `messages[0].content[1].image_url.url`. Null if there is none. Also checks a message's own
 * `image_url`, which text-generation-webui fetches, and URLs in fields for base64.
 */
export function findForeignUrl(body: Readonly<Record<string, unknown>>): string | null {
  const { messages } = body;
  if (!Array.isArray(messages)) return null;
  const root: Visit = { value: messages, key: 'messages', isUrl: false, parent: null };
  for (const [index, message] of (messages as unknown[]).entries()) {
    if (typeof message !== 'object' || message === null) continue;
    const parent: Visit = { value: message, key: index, isUrl: false, parent: root };
    for (const [key, value] of Object.entries(message)) {
      const offender = foreignIn({ value, key, isUrl: isMessageMedia(key), parent });
      if (offender !== null) return pathOf(offender);
    }
  }
  return null;
}

/** Plain text is by far the most common content, and has no parts. */
function foreignIn(field: Visit & { readonly key: string }): Visit | null {
  const isContent = field.key === 'content';
  if (isContent && typeof field.value !== 'object') return null;
  return isContent || field.isUrl ? firstForeign(field, URL_RULES) : null;
}

/** Media besides the content: `image_url`, but not the `url` of the message's author. */
function isMessageMedia(key: string): boolean {
  return foldName(key) !== 'url' && isUrlKey(key);
}

/**
 * The first field of a media request with media other than a `data:` URL, under any name, or
 * with any URL: a server would fetch it, and would read a path from the owner's disk. Text fields
 * may contain URLs.
 */
export function findForeignMedia(body: Readonly<Record<string, unknown>>): string | null {
  for (const [key, value] of Object.entries(body)) {
    if (TEXTS.has(key)) continue;
    const start = { value, key, isUrl: isMediaKey(key), parent: null };
    const offender = firstForeign(start, MEDIA_RULES);
    if (offender !== null) return pathOf(offender);
  }
  return null;
}

/** Which strings are refused, and the keys whose values are media. */
interface Rules {
  readonly isForeign: (text: string, visit: Visit) => boolean;
  readonly isKey: (key: string, isParent: boolean) => boolean;
  /** Values of these keys are at most shown to the model, and never fetched. */
  readonly isQuoted: (key: string) => boolean;
}

const URL_RULES: Rules = {
  isForeign: (text, { isUrl, key }) =>
    (isUrl && !isDataUrl(text)) || (MEDIA_DATA.test(foldName(String(key))) && SCHEME.test(text)),
  isKey: isUrlKey,
  isQuoted: (key) => CITATIONS.has(key),
};

/** Fields for base64, such as `input_audio.data`; mlx-vlm opens a URL there. */
const MEDIA_DATA = /^(data|file_data|image|audio|video)$/;
const SCHEME = /^\s*(?:https?|ftp|file):/i;

/** Sources of an answer, which clients send back with the conversation. */
const CITATIONS: ReadonlySet<string> = new Set(['annotations', 'citations', 'url_citation']);

const MEDIA_RULES: Rules = {
  isForeign: (text, { isUrl }) => (isUrl && !isDataUrl(text)) || ADDRESS.test(text),
  isKey: (key, isParent) => isParent || isMediaKey(key),
  isQuoted: () => false,
};

/** Text fields, and the model's name. */
const TEXTS: ReadonlySet<string> = new Set([
  'input',
  'instructions',
  'lyrics',
  'model',
  'negative_prompt',
  'prompt',
  'transcript',
  'user',
]);
const ADDRESS = /^\s*(?:(?:https?|ftp|file):|\/\/|\\\\)/i;

/** Depth first with its own stack: deep nesting must not overflow the call stack. */
function firstForeign(start: Visit, rules: Rules): Visit | null {
  const stack = [start];
  for (let visit = stack.pop(); visit !== undefined; visit = stack.pop()) {
    const { value } = visit;
    if (typeof value === 'string' && rules.isForeign(value, visit)) return visit;
    if (typeof value === 'object' && value !== null) pushChildren(stack, visit, { value, rules });
  }
  return null;
}

/** In reverse, so that the first child is visited first. */
function pushChildren(
  stack: Visit[],
  parent: Visit,
  { value, rules }: { readonly value: object; readonly rules: Rules },
): void {
  if (Array.isArray(value)) {
    for (let index = value.length - 1; index >= 0; index--) {
      stack.push({ value: value[index], key: index, isUrl: parent.isUrl, parent });
    }
    return;
  }
  for (const [key, child] of Object.entries(value).toReversed()) {
    if (rules.isQuoted(key)) continue;
    stack.push({ value: child, key, isUrl: rules.isKey(key, parent.isUrl), parent });
  }
}

function isUrlKey(key: string): boolean {
  const name = foldName(key);
  return name === 'url' || name.endsWith('_url');
}

/** `image`, `init_image`, `image2`, `imageUrl`, `speaker_wav`, `reference_audio`, `image_path` … */
function isMediaKey(key: string): boolean {
  if (MEDIA_NAME.test(foldName(key))) return true;
  return MEDIA_NAME.test(foldName(key.replaceAll(/([a-z\d])([A-Z])/g, '$1_$2')));
}

const MEDIA_NAME =
  /(^|_)(image|mask|audio|video|wav|reference|url|uri|src|path|file|filename)s?_?\d*$/;

function isDataUrl(value: string): boolean {
  return value.slice(0, 5).toLowerCase() === 'data:';
}

function pathOf(visit: Visit): string {
  const steps: string[] = [];
  for (let at: Visit | null = visit; at !== null; at = at.parent) {
    steps.push(typeof at.key === 'number' ? `[${at.key}]` : `.${at.key}`);
  }
  return steps.toReversed().join('').slice(1);
}
