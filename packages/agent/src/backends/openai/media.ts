/** Everything but chat, from a server that speaks OpenAI's API. */
import { ENDPOINTS } from '@inference-gateway/shared/endpoints';
import { notServed } from '../../openai-wire/error-document.js';
import { readOpenAiTranscript } from '../../openai-wire/openai-transcript.js';
import type { LocalAnswer, LocalCall } from '../backend.js';
import { makeSound } from './sound.js';
import { makeFilm, makeImages } from './images.js';
import { fieldsOf, readError, readText, sendForm } from './send.js';
import type { MediaTarget } from './send.js';

/** Throws a `LocalFailure`, or what the call's signal was aborted with. */
export async function mediaCall(target: MediaTarget, call: LocalCall): Promise<LocalAnswer> {
  const { answer, media } = ENDPOINTS[call.endpoint];
  if (answer === 'transcription') return transcribe(target, call);
  if (answer === 'images') return makeImages(target, call);
  if (answer !== 'file') return notServed(call);
  return media === 'video' ? makeFilm(target, call) : makeSound(target, call);
}

async function transcribe(target: MediaTarget, call: LocalCall): Promise<LocalAnswer> {
  const answer = await sendForm(target, call, { fields: tellingAll(call) });
  if (answer.status >= 400) return readError(call, answer);
  return readOpenAiTranscript(await readText(answer.body));
}

/** `json` tells the text alone; a server that tells times tells the language beside them. */
function tellingAll(call: LocalCall): Record<string, unknown> {
  const fields = fieldsOf(call);
  const isTimed = call.model.supported_features.includes('timestamps');
  const isPlain = fields['response_format'] === 'json';
  return isTimed && isPlain ? { ...fields, response_format: 'verbose_json' } : fields;
}
