/** The models of Stable Diffusion's web UI, by the two names that it has for each. */
import { asObjects, asText } from '../../openai-wire/json.js';
import { LocalFailure } from '../backend.js';
import type { Description } from '../backend.js';

export interface Checkpoint {
  /** What callers know it by: the file's name without its ending. */
  readonly name: string;
  /** What the web UI wants to be told: the file's name with its hash. */
  readonly title: string;
}

/** As long as the link lets a name be. */
const MAX_NAME_CHARACTERS = 256;

/** Reads `/sdapi/v1/sd-models`. Throws a `LocalFailure` where it is no list. */
export function readCheckpoints(json: unknown): Checkpoint[] {
  if (!Array.isArray(json)) {
    throw new LocalFailure('LOCAL_ERROR', '/sdapi/v1/sd-models is no list. Check the base URL.');
  }
  return asObjects(json).flatMap(({ title, model_name: name, name: plain }) => {
    const known = asText(title) ?? asText(name) ?? asText(plain);
    return known === null ? [] : [{ name: asText(name) ?? asText(plain) ?? known, title: known }];
  });
}

type Model = Description['models'][number];

/** The owner may have configured either name; a title too long for the link stays a name. */
export function withTitle(model: Model, checkpoints: readonly Checkpoint[]): Model {
  const served = model.served_name;
  const found = checkpoints.find(({ name, title }) => name === served || title === served);
  const title = found?.title ?? served;
  return title.length > MAX_NAME_CHARACTERS ? model : { ...model, served_name: title };
}
