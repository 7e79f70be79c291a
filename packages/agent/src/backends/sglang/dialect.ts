/** SGLang. Its `/health` runs the model, so the agent never requests it. */
import * as z from 'zod';
import { foldsUsual } from '../openai/dialect.js';
import type { AskedServer, Dialect } from '../openai/dialect.js';
import { flag, inputsTold, text } from '../loose-facts.js';
import { fitsType, readListedModel } from '../model-list.js';
import { listItems } from '../openai/list.js';

const modelInfo = z.object({
  is_generation: flag,
  has_image_understanding: flag,
  has_audio_understanding: flag,
});
const serverInfo = z.object({
  max_running_requests: z.int().positive().nullish().catch(null),
  tool_call_parser: text,
  reasoning_parser: text,
});

export const SGLANG: Dialect = {
  /**
   * The first is a Python program, the second names an adapter, the next two are other callers'
   * requests and sessions, and the rest makes it connect to a machine that a caller names.
   */
  dropFields: [
    'custom_logit_processor',
    'lora_path',
    'rid',
    'session_params',
    'bootstrap_host',
    'bootstrap_port',
    'bootstrap_room',
  ],
  folds: foldsUsual,
  async list(server) {
    const items = await listItems(server);
    const model = modelInfo.safeParse(await findEither(server, 'model_info')).data;
    const own = serverInfo.safeParse(await findEither(server, 'server_info')).data;
    const isOurs = server.type !== 'llm' || model?.is_generation !== false;
    const fitting = items.filter((item) => isOurs && fitsType(item, server.type));
    const models = fitting.map((item) => ({
      ...readListedModel(item, server.type),
      ...(server.type === 'llm' && {
        inputModalities: inputsTold({
          image: model?.has_image_understanding,
          audio: model?.has_audio_understanding,
        }),
        supportedFeatures: [
          ...(own?.tool_call_parser ? ['tools'] : []),
          ...(own?.reasoning_parser ? ['reasoning'] : []),
        ],
      }),
      loaded: true,
    }));
    return { models, slots: own?.max_running_requests ?? null };
  },
};

/** Newer versions renamed it without `get_`, and log a warning at each request with it. */
async function findEither({ root, find }: AskedServer, name: string): Promise<unknown> {
  return (await find(`${root}/${name}`)) ?? find(`${root}/get_${name}`);
}
