/** What the two servers have in common that write down speech with a model they do not name. */
import { refusal } from '../openai-wire/error-document.js';
import { advertise } from './advertise.js';
import type { ListedModel } from './advertise.js';
import type {
  Description,
  DocumentAnswer,
  LocalCall,
  LocalUpload,
  ServiceConfig,
} from './backend.js';

/** Unless its owner names it. */
const MODEL = 'whisper';
export const MAX_TRANSCRIPT_BYTES = 32 * 1024 * 1024;

/** The one model, under the names that its owner gave it. */
export function unnamedModel(
  service: ServiceConfig,
  facts: Pick<ListedModel, 'loaded'> = {},
): Description['models'] {
  const names = service.models?.map(({ servedName }) => servedName) ?? [MODEL];
  const supportedFeatures = ['timestamps'];
  const listed = names.map((servedName) => ({ servedName, supportedFeatures, ...facts }));
  return advertise(listed, service);
}

/** The sound to write down, or why there is nothing to be done. */
export function soundOf(call: LocalCall): LocalUpload | DocumentAnswer {
  const file = call.uploads.find(({ name }) => name === 'file');
  if (file !== undefined) return file;
  const detail = { code: 'missing_required_parameter', param: 'file' };
  return refusal(400, "There is no 'file'. Send the sound to transcribe.", detail);
}
