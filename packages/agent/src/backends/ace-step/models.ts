/** The models of ACE-Step, which it wraps as it wraps every answer. */
import { asObject, asObjects, asText } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import type { ListedModel } from '../advertise.js';
import { LocalFailure } from '../backend.js';
import type { AskedServer } from '../openai/dialect.js';

/**
 * Those that are loaded: others are names of folders, for which older ones would silently take the
 * model that they have. Newer ones show OpenRouter's list at the usual path, and theirs at another.
 */
export async function listAceStepModels({ root, get, find }: AskedServer): Promise<ListedModel[]> {
  const usual = `${root}/v1/models`;
  const models =
    readModels(await get(usual)) ?? readModels(await find(`${root}/v1/model_inventory`));
  if (models === null) {
    throw new LocalFailure('LOCAL_ERROR', `${usual} is not ACE-Step's. Check the base URL.`);
  }
  return models.flatMap(({ name, is_loaded: isLoaded }) => {
    const servedName = asText(name);
    if (servedName === null || isLoaded === false) return [];
    return [{ servedName, loaded: isLoaded === true ? true : null }];
  });
}

/** Null for somebody else's list. */
function readModels(json: unknown): JsonObject[] | null {
  const models = asObject(asObject(json)?.['data'])?.['models'];
  return Array.isArray(models) ? asObjects(models) : null;
}
