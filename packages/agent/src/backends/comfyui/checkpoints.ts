/** ComfyUI's checkpoints: files below its folder of models, which callers know without ending. */
import { LocalFailure } from '../backend.js';
import type { Description } from '../backend.js';

export interface Checkpoint {
  /** What callers know it by. */
  readonly name: string;
  /** What ComfyUI wants to be told: its path below the folder, as its system writes paths. */
  readonly file: string;
}

/** As long as the link lets a name be. */
const MAX_NAME_CHARACTERS = 256;
const ENDING = /\.(?:safetensors|ckpt|pt|pth|sft)$/i;

/** Reads `/models/checkpoints`. Throws a `LocalFailure` where it is no list. */
export function readCheckpoints(json: unknown): Checkpoint[] {
  if (!Array.isArray(json)) {
    const message =
      '/models/checkpoints is no list. Update ComfyUI, or give the service workflows.';
    throw new LocalFailure('LOCAL_ERROR', message);
  }
  const files = json.filter((file) => typeof file === 'string' && file !== '');
  return files.map((file: string) => ({ name: nameOf(file), file }));
}

type Model = Description['models'][number];

/** The owner may have configured either; a path too long for the link stays a name. */
export function fileOf(model: Model, checkpoints: readonly Checkpoint[]): Model {
  const served = model.served_name;
  const found = checkpoints.find(({ name, file }) => name === served || file === served);
  const file = found?.file ?? served;
  return file.length > MAX_NAME_CHARACTERS ? model : { ...model, served_name: file };
}

/** Below a folder of Windows too. */
function nameOf(file: string): string {
  return file.replaceAll('\\', '/').replace(ENDING, '');
}
