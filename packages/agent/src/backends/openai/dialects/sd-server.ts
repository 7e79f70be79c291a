/**
 * stable-diffusion.cpp's sd-server. Its OpenAI paths call every model `sd-cpp-local`, and take the
 * seed 42 unless the prompt hides another: the same prompt would make the same image for ever.
 */
import { randomInt } from 'node:crypto';
import { withHiddenArguments } from '../../../openai-wire/hidden-arguments.js';
import { asObjects, asText } from '../../../openai-wire/json.js';
import type { AskedServer, Dialect, Listing } from '../dialect.js';
import { listItems } from '../openai-list.js';

export const sdServer: Dialect = {
  list,
  shape({ seed: given, ...fields }) {
    // The fields of a form are texts.
    const asked = Number(given ?? -1);
    const seed = asked >= 0 ? Math.min(Math.round(asked), MAX_SEED) : randomInt(MAX_SEED);
    const prompt = asText(fields['prompt']);
    // Without a prompt it is to say so itself.
    if (prompt === null) return fields;
    return { ...fields, seed, prompt: withHiddenArguments(prompt, { seed }) };
  },
};

const MAX_SEED = 0x7fff_ffff;

/** One model at a time and one queue: it is always loaded. Films have no OpenAI path there. */
async function list(server: AskedServer): Promise<Listing> {
  if (server.type !== 'image') return { models: [], slots: 1 };
  const known = asObjects(await server.find(`${server.root}/sdapi/v1/sd-models`));
  const names = known.flatMap(
    (model) => asText(model['model_name']) ?? asText(model['title']) ?? [],
  );
  // Before it learnt the web UI's paths its model had no other name.
  const listed = names.length > 0 ? names : (await listItems(server)).map(({ id }) => id);
  return { models: listed.map((servedName) => ({ servedName, loaded: true })), slots: 1 };
}
