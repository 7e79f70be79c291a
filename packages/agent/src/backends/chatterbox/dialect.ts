/**
 * devnen's Chatterbox-TTS-Server. It has no list of models but reports which one is loaded; its
 * voices are file names, and an unknown voice gets a 404.
 */
import { asObject, asObjects, asText } from '../../openai-wire/json.js';
import { LocalFailure } from '../backend.js';
import type { AskedServer, Dialect } from '../openai/dialect.js';
import { readVoices, voicesOf, refuseVoice } from '../openai/voices.js';
import type { ListedVoice } from '../openai/voices.js';

const MODEL = 'chatterbox';

export const CHATTERBOX: Dialect = {
  formats: ['wav', 'opus', 'mp3'],
  outlives: ['speech'],
  async list(server) {
    const info = asObject(await server.get(`${server.root}/api/model-info`));
    if (info?.['loaded'] !== true) throw notLoaded(server.root);
    const type = asText(info['type']) ?? ORIGINAL;
    const servedName = type === ORIGINAL ? MODEL : `${MODEL}-${type}`;
    const voices = voicesOf(servedName, await listVoices(server));
    return { models: [{ servedName, voices, loaded: true }], slots: 1 };
  },
  refuse: refuseVoice,
};

const ORIGINAL = 'original';

/** It loads its model at its start or not at all: no request can load it. */
function notLoaded(root: string): LocalFailure {
  const message = `${root} has no model loaded. See in its log why, and start it again.`;
  return new LocalFailure('LOCAL_UNREACHABLE', message);
}

/** Older versions have voice lists only for their own page. */
async function listVoices({ baseUrl, root, find }: AskedServer): Promise<readonly ListedVoice[]> {
  const told = readVoices(await find(`${baseUrl}/audio/voices`));
  if (told.length > 0) return told;
  const predefined = asObjects(await find(`${root}/get_predefined_voices`));
  const names = predefined.flatMap(({ filename }) => asText(filename) ?? []);
  return readVoices([
    ...names,
    ...readVoices(await find(`${root}/get_reference_files`)).map(nameOf),
  ]);
}

function nameOf({ name }: ListedVoice): string {
  return name;
}
