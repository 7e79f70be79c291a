/**
 * speaches, formerly faster-whisper-server. Each model lists its task and, for speech, its voices;
 * another path lists the loaded ones.
 */
import { asObject, asObjects, asText } from '../../openai-wire/json.js';
import type { AskedServer, Dialect } from '../openai/dialect.js';
import { fitsType, readListedModel, readModelList } from '../model-list.js';
import { readVoices, voicesOf } from '../openai/voices.js';
import type { ListedVoice } from '../openai/voices.js';

export const SPEACHES: Dialect = {
  // The server would answer events instead of a sound.
  dropFields: ['stream_format'],
  formats: ['wav', 'opus', 'mp3', 'aac', 'flac', 'pcm'],
  // It does not stop a transcription when the caller leaves; it sends speech in pieces.
  outlives: ['transcript'],
  async list(server) {
    const json = await server.get(`${server.baseUrl}/models`);
    const loaded = await loadedModels(server);
    const voices = modelVoices(json);
    const fitting = (readModelList(json) ?? []).filter((item) => fitsType(item, server.type));
    const models = fitting.map((item) => {
      const own = voicesOf(item.id, voices);
      const listed = readListedModel(item, server.type);
      return {
        ...listed,
        loaded: loaded?.has(item.id) ?? null,
        ...(own.length > 0 && { voices: own }),
      };
    });
    return { models, slots: null };
  },
};

/** Only ids, unlike Ollama's list at the same path. Null if it does not report them. */
async function loadedModels({ root, find }: AskedServer): Promise<ReadonlySet<string> | null> {
  const models = asObject(await find(`${root}/api/ps`))?.['models'];
  return Array.isArray(models) ? new Set(models.flatMap((id) => asText(id) ?? [])) : null;
}

/** Its list of voices does not name their models. */
function modelVoices(json: unknown): ListedVoice[] {
  return asObjects(asObject(json)?.['data']).flatMap(({ id, voices }) => {
    return readVoices(voices).map(({ name }) => ({ name, model: asText(id) }));
  });
}
