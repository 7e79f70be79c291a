/** Images and films from a server that speaks OpenAI's API. */
import { randomInt } from 'node:crypto';
import { contentTypeOf, detectFormat } from '@inference-gateway/shared/media/types';
import type { MediaFamily } from '@inference-gateway/shared/media/types';
import { withoutMetadata } from '../../media/without-metadata.js';
import { withoutHiddenArguments } from '../../openai-wire/hidden-arguments.js';
import { LocalFailure } from '../backend.js';
import type { DocumentAnswer, LocalAnswer, LocalCall, LocalUpload, MediaPart } from '../backend.js';
import { inPieces } from '../in-pieces.js';
import { leave, openListed, openMade, readMade } from './answer.js';
import type { ListedOrFile, MadeFile, MadeList, Usable } from './answer.js';
import { fieldsOf, readError, sendForm, sendJson } from './send.js';
import type { MediaTarget } from './send.js';
import { readWhole } from '../read-whole.js';
import { serverRoot } from '../server-root.js';
import { withoutFields } from '../../openai-wire/without-fields.js';

/** 4,096 pixels a side, hardly compressed. */
const MAX_IMAGE_BYTES = 64 * 1024 * 1024;
/** More images than this nobody can ask for, whatever the coordinator says. */
const MAX_IMAGES = 32;

interface Order {
  readonly target: MediaTarget;
  readonly call: LocalCall;
  readonly wanted: number;
}

export async function makeImages(target: MediaTarget, call: LocalCall): Promise<LocalAnswer> {
  const order = { target, call, wanted: countOf(call) };
  const made = await ask(order, 0);
  if (made.kind === 'document') return made;
  return { kind: 'media', parts: images(order, made) };
}

/** A film comes as one file, in whatever form its server has. */
export async function makeFilm(target: MediaTarget, call: LocalCall): Promise<LocalAnswer> {
  // `url` is what the caller wants of the gateway.
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

/** Local servers are always asked for the bytes. `had` images are there already. */
async function ask(order: Order, had: number): Promise<Usable | DocumentAnswer> {
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

/** Null where the server has no way of its own. */
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
 * Some servers make one image whatever was asked, so they are asked for those that are missing:
 * each answer has one at least, so there are at most as many questions as images.
 */
async function* images(order: Order, first: Usable): AsyncGenerator<MediaPart, void, void> {
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

async function askAgain(order: Order, had: number): Promise<Usable> {
  const made = await ask(order, had);
  if (made.kind !== 'document') return made;
  const message = `the local server made ${had} of ${order.wanted} images and then refused.`;
  throw new LocalFailure('LOCAL_ERROR', message);
}

/** Less what is written beside its pixels: prompts, file names, paths of the owner's machine. */
async function image({ target, call }: Order, file: ListedOrFile): Promise<MediaPart> {
  const isListed = 'url' in file;
  const { bytes } = isListed ? await openListed(file, target, call) : file;
  const clean = withoutMetadata(await readWhole(bytes, MAX_IMAGE_BYTES));
  const contentType = contentTypeOfMade(clean, 'image');
  if (contentType === null) throw notMade('image');
  const revisedPrompt = isListed ? file.revisedPrompt : null;
  return { contentType, revisedPrompt, bytes: inPieces(clean) };
}

async function* film(open: () => Promise<MadeFile>): AsyncGenerator<MediaPart, void, void> {
  const file = await open();
  const contentType = contentTypeOfMade(file.start, 'video');
  if (contentType !== null) return yield { contentType, revisedPrompt: null, bytes: file.bytes };
  await leave(file);
  throw notMade('video');
}

/** Null for anything else. */
function contentTypeOfMade(start: Uint8Array, family: MediaFamily): string | null {
  const format = detectFormat(start);
  return format === null ? null : contentTypeOf(format, family);
}

function notMade(family: MediaFamily): LocalFailure {
  return new LocalFailure(
    'LOCAL_ERROR',
    `the local server answered something that is no ${family}.`,
  );
}
