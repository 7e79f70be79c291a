/** Shared by the two transcription servers that do not name their model. */
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

/** The id unless its owner configures one. */
const MODEL = 'whisper';
export const MAX_TRANSCRIPT_BYTES = 32 * 1024 * 1024;

/** The one model, under the ids that its owner configured. */
export function unnamedModel(
  service: ServiceConfig,
  facts: Pick<ListedModel, 'loaded'> = {},
): Description['models'] {
  const names = service.models?.map(({ servedName }) => servedName) ?? [MODEL];
  const listed = names.map((servedName) => ({
    servedName,
    supportedFeatures: ['timestamps', ...(translates(servedName) ? ['translation'] : [])],
    ...facts,
  }));
  return advertise(listed, service);
}

/** Whisper's models for English alone, and those that were made faster, do not translate. */
const NO_TRANSLATOR = /[.-]en\b|turbo|distil/i;

/** Whether a Whisper model of this name translates into English. */
export function translates(name: string): boolean {
  return !NO_TRANSLATOR.test(name);
}

/** The sound to transcribe, or the reason why there is none. */
export function soundOf(call: LocalCall): LocalUpload | DocumentAnswer {
  const file = call.uploads.find(({ name }) => name === 'file');
  if (file !== undefined) return file;
  const detail = { code: 'missing_required_parameter', param: 'file' };
  return refusal(400, "There is no 'file'. Send the sound to transcribe.", detail);
}
