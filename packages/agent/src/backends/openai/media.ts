/** Everything except chat, from a server that speaks OpenAI's API. */
import { randomInt } from 'node:crypto';
import { contentTypeOf, detectFormat } from '@inference-gateway/shared/media/types';
import type { MediaFamily, MediaFormat } from '@inference-gateway/shared/media/types';
import { readOpenAiTranscript } from '../../openai-wire/transcript.js';
import { streamWithoutMetadata } from '../../media/stream-without-metadata.js';
import { withoutHiddenArguments, withoutFields } from '../../openai-wire/request-body.js';
import type { LocalAnswer, LocalCall, DocumentAnswer, LocalUpload, MediaPart } from '../backend.js';
import { LocalFailure } from '../backend.js';
import type { ForwardedAnswer } from '../forward.js';
import { madeSound, wantedFormat } from '../sound-answer.js';
import type { SoundOrder } from '../sound-answer.js';
import { serverRoot } from '../probe.js';
import { fieldsOf, readError, readText, sendForm, sendJson } from './send.js';
import type { MediaTarget } from './send.js';
import { openMade, readMade, leave, openListed } from './answer.js';
import type { ListedOrFile, MadeFile, MadeList, Usable } from './answer.js';

// All of them throw a `LocalFailure`, or the signal's abort reason.

export async function transcribe(target: MediaTarget, call: LocalCall): Promise<LocalAnswer> {
  const answer = await sendForm(target, call, { fields: tellingAll(call) });
  if (answer.status >= 400) return readError(call, answer);
  return readOpenAiTranscript(await readText(answer.body));
}

/** `json` contains the text only; a server that returns timestamps also returns the language. */
function tellingAll(call: LocalCall): Record<string, unknown> {
  const fields = fieldsOf(call);
  const isTimed = call.model.supported_features.includes('timestamps');
  const isPlain = fields['response_format'] === 'json';
  return isTimed && isPlain ? { ...fields, response_format: 'verbose_json' } : fields;
}

/** One request to such a server. */
interface Order extends SoundOrder {
  readonly target: MediaTarget;
}

/** Also in a cloned voice. */
export function speak(target: MediaTarget, call: LocalCall): Promise<LocalAnswer> {
  return makeSound({ target, call, converter: target.converter, wanted: wantedFormat(call) });
}

export function makeMusic(target: MediaTarget, call: LocalCall): Promise<LocalAnswer> {
  return makeSound({ target, call, converter: target.converter, wanted: null });
}

async function makeSound(order: Order): Promise<LocalAnswer> {
  const { target, call } = order;
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

/** Raw samples have no signature: only for them the content type decides. */
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
  // Kokoro streams by default.
  const body = { ...spoken, stream: false, response_format: format };
  const first = await orError(call, await sendJson(target, call, body));
  if (!('kind' in first)) return first;
  const other = withoutRefused(body, first);
  return other === null ? first : orError(call, await sendJson(target, call, other));
}

/** A format for the server; the agent converts from it if necessary. */
function makeable(wanted: string, { dialect }: MediaTarget): string {
  const formats = dialect?.formats;
  if (formats === undefined || formats.includes(wanted)) return wanted;
  return formats.includes('wav') ? 'wav' : (formats[0] ?? wanted);
}

/** Some servers have no default voice. */
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

/**
 * Null if the server refused none of the agent's own fields: the caller's fields are sent only
 * once.
 */
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

// Images and videos from a server that speaks OpenAI's API.

/** Upper limit of images per request, independent of the coordinator. */
const MAX_IMAGES = 32;

interface ImageOrder {
  readonly target: MediaTarget;
  readonly call: LocalCall;
  readonly wanted: number;
}

export async function makeImages(target: MediaTarget, call: LocalCall): Promise<LocalAnswer> {
  const order = { target, call, wanted: countOf(call) };
  const made = await askForImages(order, 0);
  if (made.kind === 'document') return made;
  return { kind: 'media', parts: images(order, made) };
}

/** A video comes as one file, in the server's format. */
export async function makeFilm(target: MediaTarget, call: LocalCall): Promise<LocalAnswer> {
  // `url` is for the gateway's answer to the caller.
  const { response_format: _caller, ...fields } = fieldsOf(call);
  const answer = await sendJson(target, call, withoutHiddenArguments(fields));
  if (answer.status >= 400) return readError(call, answer);
  const made = await readMade(answer);
  if (made.kind === 'refused') return made.answer;
  return { kind: 'media', parts: film(() => openMade(made, target, call)) };
}

function countOf({ body }: LocalCall): number {
  const n = Number(body['n'] ?? 1);
  return Number.isInteger(n) ? Math.min(Math.max(n, 1), MAX_IMAGES) : 1;
}

/** Local servers are always asked for the bytes. `had` counts images that exist already. */
async function askForImages(order: ImageOrder, had: number): Promise<Usable | DocumentAnswer> {
  const { target, call, wanted } = order;
  const asked = withSeed(withoutHiddenArguments(fieldsOf(call)), had);
  const fields = { ...asked, n: wanted - had, response_format: 'b64_json' };
  const drawn = await draw(target, call, fields);
  if (drawn !== null) return drawn;
  const answer = await (call.uploads.length === 0
    ? sendJson(target, call, fields)
    : sendForm(target, call, { fields, nameOf: editName(call) }));
  if (answer.status >= 400) return readError(call, answer);
  const made = await readMade(answer);
  return made.kind === 'refused' ? made.answer : made;
}

/** Null if the server has no API of its own. */
async function draw(
  { baseUrl, apiKey, dropFields, dialect }: MediaTarget,
  call: LocalCall,
  fields: Readonly<Record<string, unknown>>,
): Promise<MadeList | DocumentAnswer | null> {
  const server = { root: serverRoot(baseUrl), apiKey };
  const drawn = await dialect?.draw?.(server, call, withoutFields(fields, dropFields));
  if (drawn === undefined || drawn === null || 'kind' in drawn) return drawn ?? null;
  const [first, ...others] = drawn;
  if (first === undefined) throw notMade('image');
  return { kind: 'list', files: [first, ...others] };
}

/** The same seed would make the same image again. */
function withSeed(
  fields: Readonly<Record<string, unknown>>,
  had: number,
): Readonly<Record<string, unknown>> {
  const { seed: given } = fields;
  if (typeof given !== 'number' && had === 0) return fields;
  return { ...fields, seed: typeof given === 'number' ? given + had : randomInt(MAX_SEED) };
}

const MAX_SEED = 0x7fff_ffff;

/** OpenAI's own clients write several images as `image[]`. */
function editName({ uploads }: LocalCall): (upload: LocalUpload) => string {
  const isSeveral = uploads.filter(({ name }) => name === 'image').length > 1;
  return ({ name }) => (isSeveral && name === 'image' ? 'image[]' : name);
}

/**
 * Some servers make one image for any number, so the agent requests the missing ones: each
 * answer has at least one, so there are at most as many requests as images.
 */
async function* images(order: ImageOrder, first: Usable): AsyncGenerator<MediaPart, void, void> {
  const { call, wanted } = order;
  let had = 0;
  for (let made = first; ; made = await askAgain(order, had)) {
    const files: ListedOrFile[] = made.kind === 'list' ? [...made.files] : [made];
    for (const file of files.slice(0, wanted - had)) {
      yield await image(order, file);
      had += 1;
    }
    if (had >= wanted) return;
    // Uploads can be sent only once.
    if (call.uploads.length > 0) return;
  }
}

async function askAgain(order: ImageOrder, had: number): Promise<Usable> {
  const made = await askForImages(order, had);
  if (made.kind !== 'document') return made;
  const message = `the local server made ${had} of ${order.wanted} images and then refused.`;
  throw new LocalFailure('LOCAL_ERROR', message);
}

/** Without metadata: prompts, file names, paths of the owner's machine. */
async function image({ target, call }: ImageOrder, file: ListedOrFile): Promise<MediaPart> {
  const isListed = 'url' in file;
  const made = isListed ? await openListed(file, target, call) : file;
  const { format, contentType } = await madeAs('image', made);
  const revisedPrompt = isListed ? file.revisedPrompt : null;
  return { contentType, revisedPrompt, bytes: streamWithoutMetadata(made.bytes, format) };
}

async function* film(open: () => Promise<MadeFile>): AsyncGenerator<MediaPart, void, void> {
  const file = await open();
  const { contentType } = await madeAs('video', file);
  yield { contentType, revisedPrompt: null, bytes: file.bytes };
}

/** The type of the file. Throws a `LocalFailure` if it is anything else than expected. */
async function madeAs(
  family: MediaFamily,
  file: MadeFile,
): Promise<{ readonly format: MediaFormat; readonly contentType: string }> {
  const format = detectFormat(file.start);
  const contentType = format === null ? null : contentTypeOf(format, family);
  if (format !== null && contentType !== null) return { format, contentType };
  await leave(file);
  throw notMade(family);
}

function notMade(family: MediaFamily): LocalFailure {
  return new LocalFailure(
    'LOCAL_ERROR',
    `the local server answered something that is no ${family}.`,
  );
}
