/** openedai-speech: it has no list of voices, but always OpenAI's first six. */
import type { Dialect } from '../openai/dialect.js';

/** An owner who added others in YAML names them in the agent's configuration. */
const VOICES = ['alloy', 'echo', 'fable', 'onyx', 'nova', 'shimmer'];

export const OPENEDAI_SPEECH: Dialect = {
  formats: ['wav', 'opus', 'mp3', 'aac', 'flac', 'pcm'],
  voices: async () => VOICES.map((name) => ({ name, model: null })),
};
