/** text-generation-webui: at most one loaded model, and one request at a time. */
import * as z from 'zod';
import { LocalFailure } from '../backend.js';
import { foldsUsual } from '../openai/dialect.js';
import type { Dialect } from '../openai/dialect.js';

const info = z.object({ model_name: z.string().nullable() });
const NO_MODEL = 'None';

export const TEXT_GENERATION_WEBUI: Dialect = {
  folds: foldsUsual,
  namesItself: true,
  /**
   * They read the owner's characters and presets, or are templates that would run on the server.
   */
  dropFields: [
    'character',
    'preset',
    'instruction_template',
    'instruction_template_str',
    'chat_template_str',
    'custom_system_message',
  ],
  async list(server) {
    const url = `${server.baseUrl}/internal/model/info`;
    const told = info.safeParse(await server.get(url)).data;
    if (told === undefined) {
      const message = `${url} is not text-generation-webui's. Check the base URL.`;
      throw new LocalFailure('LOCAL_ERROR', message);
    }
    const { model_name: name } = told;
    const isOurs = server.type === 'llm' && name !== null && name !== NO_MODEL && name !== '';
    return { models: isOurs ? [{ servedName: name, loaded: true }] : [], slots: 1 };
  },
};
