/** The excerpt of a request: a short text by which its owner finds it again in lists. */
import type { EndpointKey } from '../endpoints.js';
import { kindOf } from './kinds.js';

/** What a reader counts as letters: a family of four is one emoji. */
const MAX_GRAPHEMES = 80;
/** UTF-16 units that are looked at: a prompt may have megabytes. */
const HEAD_CHARACTERS = 2_048;
/** Of most texts these are enough, and a batch has 256 requests. */
const FIRST_CHARACTERS = 256;
/** UTF-16 units of an excerpt: one letter may carry any number of marks. */
const MAX_CHARACTERS = 1_024;
/** From the end of a conversation: the rest may be calls of tools. */
const MAX_MESSAGES = 1_000;
/** Of a message. */
const MAX_PARTS = 100;

/** Of the last text that its user has written; null if there is none. */
export function requestExcerpt(
  endpoint: EndpointKey,
  body: Readonly<Record<string, unknown>>,
): string | null {
  const { userText } = kindOf(endpoint);
  if (userText === null) return null;
  const value = body[userText];
  return userText === 'messages' ? lastUserExcerpt(value) : excerptOf(firstText(value));
}

/** The text of a field that may be a list of texts. */
function firstText(value: unknown): string {
  const text: unknown = Array.isArray(value) ? value[0] : value;
  return typeof text === 'string' ? text : '';
}

function lastUserExcerpt(messages: unknown): string | null {
  if (!Array.isArray(messages)) return null;
  const last = messages.length - 1;
  for (let at = last; at >= 0 && at > last - MAX_MESSAGES; at--) {
    const message = messages[at] as { readonly role?: unknown; readonly content?: unknown } | null;
    if (message?.role !== 'user') continue;
    const excerpt = excerptOf(contentText(message.content));
    if (excerpt !== null) return excerpt;
  }
  return null;
}

/** The texts of a message. Those that a coding agent has added count only if there is no other. */
function contentText(content: unknown): string {
  if (typeof content === 'string') return content;
  if (!Array.isArray(content)) return '';
  const texts = content.slice(0, MAX_PARTS).flatMap((part: { readonly text?: unknown } | null) => {
    return typeof part?.text === 'string' ? part.text : [];
  });
  const own = texts.filter((text) => !isAddedByAgent(text));
  return (own.length > 0 ? own : texts).map((text) => text.slice(0, HEAD_CHARACTERS)).join(' ');
}

const FIRST_TAG = /^\s*<([a-z][\w-]{0,63})>/i;
const TAIL_CHARACTERS = 200;

/** One element as a whole: `<system-reminder>…</system-reminder>`. */
function isAddedByAgent(text: string): boolean {
  const name = FIRST_TAG.exec(text.slice(0, TAIL_CHARACTERS))?.[1];
  return name !== undefined && text.slice(-TAIL_CHARACTERS).trimEnd().endsWith(`</${name}>`);
}

/**
 * At most 80 graphemes of the head of a text, in one line: without data URLs, and without
 * characters that are not seen or that turn others around. Null if nothing is left.
 */
export function excerptOf(text: string): string | null {
  const first = text.slice(0, FIRST_CHARACTERS);
  if (!/data:/iu.test(first)) {
    const line = lineOf(first);
    const excerpt = firstGraphemes(line);
    if (excerpt !== '' && excerpt.length < line.length) return excerpt.trimEnd();
  }
  return firstGraphemes(lineOf(text.slice(0, HEAD_CHARACTERS))).trimEnd() || null;
}

function lineOf(text: string): string {
  const seen = PLAIN.test(text) ? text : text.replaceAll(UNSEEN, '');
  return seen.replaceAll(DATA_URL, ' ').replaceAll(/\s+/gu, ' ').trim();
}

/**
 * Control characters that are no white space, format characters (zero-width and bidirectional ones,
 * tags), halves of surrogate pairs, and what is drawn as nothing. Emoji keep their joiners and
 * their variation.
 */
const UNSEEN = new RegExp(
  [
    String.raw`[^\P{Cc}\s]`,
    String.raw`[\p{Cs}\u2800]`,
    String.raw`(?![\u200d\ufe0f])[\p{Cf}\p{Default_Ignorable_Code_Point}]`,
    String.raw`(?<!\p{Emoji})\ufe0f`,
    String.raw`(?<!\p{Extended_Pictographic}\ufe0f?|\p{Emoji_Modifier})\u200d`,
    String.raw`\u200d(?!\p{Extended_Pictographic})`,
  ].join('|'),
  'gu',
);

/** With a media type or a parameter, which a sentence about data does not have. */
const DATA_URL = /(?<!\w)data:[^\s,:;/]*[;/][^\s,:]*,[^\s"'()<>]*/giu;

/**
 * Latin, Greek, Cyrillic, Chinese, Japanese and Korean letters and signs: each is seen, and is a
 * grapheme unless another character follows.
 */
const LETTERS =
  ' -~\u00a1-\u00ac\u00ae-\u02ff\u0370-\u0482\u048a-\u058a\u2010-\u2027' +
  '\u3001-\u3029\u3041-\u3096\u30a1-\u30fa\u4e00-\u9fff\uac00-\ud7a3\uff01-\uff9d';
const PLAIN = new RegExp(`^[\\s${LETTERS}]*$`, 'u');
const PLAIN_START = new RegExp(`^[${LETTERS}]{0,${MAX_GRAPHEMES + 1}}`, 'u');
const SEGMENTER = new Intl.Segmenter('en', { granularity: 'grapheme' });

function firstGraphemes(text: string): string {
  const plain = PLAIN_START.exec(text)?.[0].length ?? 0;
  if (plain > MAX_GRAPHEMES || plain === text.length) return text.slice(0, MAX_GRAPHEMES);
  let count = 0;
  for (const { index, segment } of SEGMENTER.segment(text)) {
    if (count === MAX_GRAPHEMES || index + segment.length > MAX_CHARACTERS) {
      return text.slice(0, index);
    }
    count += 1;
  }
  return text;
}
