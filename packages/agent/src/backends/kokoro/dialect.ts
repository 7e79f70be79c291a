/** Kokoro-FastAPI: one model, which also accepts OpenAI's model names. */
import { asText } from '../../openai-wire/json.js';
import type { Dialect } from '../openai/dialect.js';
import { readListedModel } from '../model-list.js';
import { listItems } from '../openai/list.js';

/** Its own name for the model; the others are aliases. */
const MODEL = 'kokoro';

export const KOKORO: Dialect = {
  // They would leave a copy on the owner's disk.
  dropFields: ['return_download_link', 'download_format'],
  formats: ['wav', 'opus', 'mp3', 'aac', 'flac', 'pcm'],
  async list(server) {
    const items = await listItems(server);
    const own = items.filter(({ id }) => id === MODEL);
    const listed = own.length > 0 ? own : items;
    return { models: listed.map((item) => readListedModel(item, server.type)), slots: null };
  },
  // It checks its caller's connection at each piece of a stream, otherwise never.
  shape({ language, ...fields }) {
    const code = langCode(asText(language));
    return { ...(code !== null && { lang_code: code }), ...fields, stream: true };
  },
};

/** It takes languages as one letter; the default is the voice's language. */
const LETTERS: readonly (readonly [start: string, letter: string])[] = [
  ['en-us', 'a'],
  ['en', 'b'],
  ['es', 'e'],
  ['fr', 'f'],
  ['hi', 'h'],
  ['it', 'i'],
  ['ja', 'j'],
  ['pt', 'p'],
  ['zh', 'z'],
];

function langCode(language: string | null): string | null {
  if (language === null || language.toLowerCase() === 'en') return null;
  const tag = language.toLowerCase().replaceAll('_', '-');
  const known = LETTERS.find(([start]) => tag === start || tag.startsWith(`${start}-`));
  return known?.[1] ?? null;
}
