/** KoboldCpp: one process with up to one model of each kind, which runs one request at a time. */
import * as z from 'zod';
import type { ListedModel } from '../advertise.js';
import { LocalFailure } from '../backend.js';
import { foldsUsual } from '../openai/dialect.js';
import type { AskedServer, Dialect } from '../openai/dialect.js';
import { flag, inputsTold } from '../loose-facts.js';
import { fitsType, readListedModel } from '../model-list.js';
import { listItems } from '../openai/list.js';

const version = z.object({
  result: z.literal('KoboldCpp'),
  protected: flag,
  llm: flag,
  txt2img: flag,
  vision: flag,
  audio: flag,
  transcribe: flag,
  tts: flag,
});
const current = z.object({ result: z.string() });
const context = z.object({ value: z.number() });
const checkpoints = z.array(z.object({ model_name: z.string().min(1) }));

type Version = z.infer<typeof version>;

/** Its transcription and speech models have no names. */
const TRANSCRIBER = 'whisper';
const SPEAKER = 'tts';
const VOICES = ['kobo', 'cheery', 'sleepy', 'shouty', 'chatty'];
/** The model name that it shows without the password. */
const HIDDEN = 'koboldcpp/protected-model';
const NO_PAINTER = 'inactive';

export const KOBOLDCPP: Dialect = {
  folds: foldsUsual,
  namesItself: true,
  formats: ['wav'],
  voices: async () => VOICES.map((name) => ({ name, model: null })),
  async list(server) {
    const url = `${server.root}/api/extra/version`;
    const own = version.safeParse(await server.get(url)).data;
    if (own === undefined) {
      throw new LocalFailure('LOCAL_ERROR', `${url} is not KoboldCpp's. Check the base URL.`);
    }
    if (own.protected) await checkKey(server);
    // While it is busy, further requests wait, and it refuses the eighth that waits.
    return { models: await modelsOf(server, own), slots: 1 };
  },
};

/** Its lists need no key; only the model's name shows whether the key is right. */
async function checkKey({ root, find }: AskedServer): Promise<void> {
  const url = `${root}/api/v1/model`;
  const told = current.safeParse(await find(url)).data;
  if (told?.result !== HIDDEN) return;
  throw new LocalFailure(
    'LOCAL_ERROR',
    `${url} hides its model without the password. Set it with api_key_file.`,
  );
}

async function modelsOf(server: AskedServer, own: Version): Promise<readonly ListedModel[]> {
  switch (server.type) {
    case 'llm':
      return own.llm === false ? [] : textModels(server, own);
    case 'image':
      return own.txt2img ? painters(server) : [];
    case 'stt':
      return own.transcribe ? [{ servedName: TRANSCRIBER, loaded: true }] : [];
    case 'tts':
      return own.tts ? [{ servedName: SPEAKER, loaded: true }] : [];
    case 'video':
    case 'music':
    case 'embedding':
    case 'rerank':
      return [];
  }
}

async function textModels(server: AskedServer, own: Version): Promise<readonly ListedModel[]> {
  const items = (await listItems(server)).filter((item) => fitsType(item, 'llm'));
  const served = context.safeParse(
    await server.find(`${server.root}/api/extra/true_max_context_length`),
  );
  return items.map((item) => ({
    ...readListedModel(item, 'llm'),
    contextLength: served.data?.value ?? null,
    inputModalities: inputsTold({ image: own.vision, audio: own.audio }),
    // Every model can call tools: if the model has no tool format, it uses a grammar.
    supportedFeatures: ['tools'],
    loaded: true,
  }));
}

async function painters({ root, find }: AskedServer): Promise<readonly ListedModel[]> {
  const told = checkpoints.safeParse(await find(`${root}/sdapi/v1/sd-models`)).data ?? [];
  const names = told.map(({ model_name: name }) => name).filter((name) => name !== NO_PAINTER);
  return names.map((servedName) => ({ servedName, loaded: true }));
}
