/**
 * Orpheus-FastAPI: no list of models, and one answer per second and voice, because these name its
 * files. It has paths that rewrite its configuration; the agent uses only its speech path.
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
