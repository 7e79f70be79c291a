/**
 * Orpheus-FastAPI: no list of models, and one answer a second and voice, because its files are
 * named after those. It has paths that rewrite its configuration; only speech is ever asked of it.
 */
import type { Dialect } from '../openai/dialect.js';
import { readVoices, voicesOf, refuseVoice } from '../openai/voices.js';

const MODEL = 'orpheus';

export const ORPHEUS: Dialect = {
  formats: ['wav'],
  outlives: ['speech'],
  async list({ baseUrl, get }) {
    const voices = voicesOf(MODEL, readVoices(await get(`${baseUrl}/audio/voices`)));
    return { models: [{ servedName: MODEL, voices }], slots: 1 };
  },
  refuse: refuseVoice,
};
