/** Speech, copied voices and music from a server that speaks OpenAI's API. */
import type { DocumentAnswer, LocalAnswer, LocalCall } from '../backend.js';
import type { ForwardedAnswer } from '../forward.js';
import { madeSound, wantedFormat } from '../made-sound.js';
import type { SoundOrder } from '../made-sound.js';
import { openMade, readMade } from './answer.js';
import { fieldsOf, readError, sendForm, sendJson } from './send.js';
import type { MediaTarget } from './send.js';

/** One request to such a server. */
interface Order extends SoundOrder {
  readonly target: MediaTarget;
}

export async function makeSound(target: MediaTarget, call: LocalCall): Promise<LocalAnswer> {
  const order = { target, call, converter: target.converter, wanted: wantedFormat(call) };
  const answer = await ask(order);
  if ('kind' in answer) return answer;
  const made = await readMade(answer);
  if (made.kind === 'refused') return made.answer;
  const isPcm = !NOT_SOUND.test(answer.contentType);
  return {
    kind: 'media',
    parts: madeSound(order, { file: () => openMade(made, target, call), isPcm }),
  };
}

/** Bare samples have no mark of their own: there, and only there, the content type must do. */
const NOT_SOUND = /^(?:text\/|application\/json)/i;

/** An error is read to its end. */
async function ask({ target, call, wanted }: Order): Promise<ForwardedAnswer | DocumentAnswer> {
  const { response_format: _caller, ...fields } = fieldsOf(call);
  if (wanted === null) return orError(call, await sendJson(target, call, fields));
  const spoken = withVoice(fields, call);
  const format = makeable(wanted, target);
  if (call.uploads.length > 0) {
    const form = { fields: { ...spoken, response_format: format } };
    return orError(call, await sendForm(target, call, form));
  }
  // Kokoro streams unless told otherwise.
  const body = { ...spoken, stream: false, response_format: format };
  const first = await orError(call, await sendJson(target, call, body));
  if (!('kind' in first)) return first;
  const other = withoutRefused(body, first);
  return other === null ? first : orError(call, await sendJson(target, call, other));
}

/** What comes in another format is converted here. */
function makeable(wanted: string, { dialect }: MediaTarget): string {
  const formats = dialect?.formats;
  if (formats === undefined || formats.includes(wanted)) return wanted;
  return formats.includes('wav') ? 'wav' : (formats[0] ?? wanted);
}

/** Some servers have no voice of their own accord. */
function withVoice(fields: Record<string, unknown>, { model }: LocalCall): Record<string, unknown> {
  const voice = fields['voice'] ?? model.voices?.[0];
  return voice === undefined ? fields : { ...fields, voice };
}

async function orError(
  call: LocalCall,
  answer: ForwardedAnswer,
): Promise<ForwardedAnswer | DocumentAnswer> {
  return answer.status < 400 ? answer : readError(call, answer);
}

/** Null where it was nothing of ours that was refused: what the caller sent is sent once. */
function withoutRefused(
  { stream, response_format: wanted, ...rest }: Record<string, unknown>,
  { status, json }: DocumentAnswer,
): Record<string, unknown> | null {
  if (status !== 400 && status !== 422) return null;
  const isFormat = /format/i.test(json);
  const isStream = /stream/i.test(json);
  if (!isFormat && !isStream) return null;
  const other = wanted === 'wav' ? {} : { response_format: 'wav' };
  return {
    ...rest,
    ...(!isStream && { stream }),
    ...(isFormat ? other : { response_format: wanted }),
  };
}
