/** openedai-speech: it has no list of voices, but always OpenAI's first six. */
import type { Dialect } from '../openai/dialect.js';

/** Its owner may have added others in YAML, and then names them in our configuration. */
const VOICES = ['alloy', 'echo', 'fable', 'onyx', 'nova', 'shimmer'];

export const OPENEDAI_SPEECH: Dialect = {
  formats: ['wav', 'opus', 'mp3', 'aac', 'flac', 'pcm'],
  voices: async () => VOICES.map((name) => ({ name, model: null })),
};
