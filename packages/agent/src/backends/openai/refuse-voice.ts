/**
 * Voices that a server takes for the name of a file. The coordinator has compared the voice with
 * the list that it was sent, but it is not for the coordinator to say what is opened here.
 */
import { refusal } from '../../openai-wire/error-document.js';
import { asText } from '../../openai-wire/json.js';
import type { DocumentAnswer, LocalCall } from '../backend.js';

/** Null where the voice is one of the model's, or the model's are not known and it is no path. */
export function refuseVoice({ body, model }: LocalCall): DocumentAnswer | null {
  const voice = asText(body['voice']);
  if (voice === null) return null;
  const isFit = model.voices?.includes(voice) ?? !PATH.test(voice);
  return isFit ? null : refused(voice, model.id);
}

/**
 * For servers of which nothing is known: they may blend voices, or have more than they list, and
 * some, such as mlx-audio, open whatever looks like a file.
 */
export function refuseVoiceFile({ body, model }: LocalCall): DocumentAnswer | null {
  const voice = asText(body['voice']);
  const isFile = voice !== null && (PATH.test(voice) || FILE.test(voice));
  return !isFile || model.voices?.includes(voice) ? null : refused(voice, model.id);
}

function refused(voice: string, model: string): DocumentAnswer {
  const message = `'voice' is ${JSON.stringify(voice)}, which ${model} does not have here.`;
  const detail = { code: 'unsupported_value', param: 'voice' };
  return refusal(400, `${message} Choose one of its list of voices.`, detail);
}

const PATH = /[/\\]|\.\./;
const FILE = /\.(?:safetensors|pth?|bin|npy|onnx|json|wav|mp3|flac|ogg|opus|m4a)$/i;
