/**
 * Uploads a request's pictures to ComfyUI. They go to its folder of temporary files, which it
 * erases when it starts and ends: its API cannot delete a file.
 */
import { randomUUID } from 'node:crypto';
import { contentTypeOf, detectFormat, extensionOf } from '@inference-gateway/shared/media/types';
import { repaintMask } from '../../media/repaint-mask.js';
import { errorDocument, refusal } from '../../openai-wire/error-document.js';
import { asObject, asText, parseJson } from '../../openai-wire/json.js';
import { LocalFailure } from '../backend.js';
import type { DocumentAnswer, LocalCall, LocalUpload } from '../backend.js';
import { forward } from '../forward.js';
import { inPieces, readWhole } from '../bytes.js';
import { multipartForm } from '../multipart.js';
import type { ComfyServer } from './comfy-server.js';
import type { Placeholder, PlaceholderName, Value } from './workflow.js';

/** ComfyUI's own limit is 100 MB. */
const MAX_UPLOAD_BYTES = 32 * 1024 * 1024;
const MAX_ANSWER_BYTES = 64 * 1024;
const IMAGES = ['image', 'image_2', 'image_3'] as const;

/** What may follow a placeholder's name in the map of values. */
type Named = readonly [PlaceholderName, Value];

/** A picture of the request, with its placeholder. */
interface Picture {
  readonly place: PlaceholderName;
  readonly upload: LocalUpload;
}

/** Uploads them one by one; or says what is wrong with them, before reading any. */
export async function uploadPictures(
  server: ComfyServer,
  call: LocalCall,
  places: readonly Placeholder[],
): Promise<readonly Named[] | DocumentAnswer> {
  const pictures = picturesOf(call);
  if (!Array.isArray(pictures)) return pictures;
  const fault = placeFault(call, pictures, places);
  if (fault !== null) return fault;
  const named: Named[] = [];
  for (const { place, upload } of pictures) {
    const file = place === 'mask' ? await maskOf(upload) : upload;
    const name = 'kind' in file ? file : await send(server, file, call.signal);
    if (typeof name !== 'string') return name;
    named.push([place, name]);
  }
  return named;
}

function picturesOf({ body, uploads }: LocalCall): Picture[] | DocumentAnswer {
  if (uploads.length > 0) {
    const images = uploads.filter(({ name }) => name === 'image');
    if (images.length > IMAGES.length) {
      return invalid('image', `${images.length} images came, and ${IMAGES.length} are the most.`);
    }
    return uploads.flatMap((upload): Picture[] => {
      const place = upload.name === 'mask' ? 'mask' : IMAGES[images.indexOf(upload)];
      return place === undefined ? [] : [{ place, upload }];
    });
  }
  const { image } = body;
  if (image === undefined || image === null) return [];
  const bytes = Buffer.from(DATA_URL.exec(asText(image) ?? '')?.[1] ?? '', 'base64');
  const format = detectFormat(bytes);
  const contentType = format === null ? null : contentTypeOf(format, 'image');
  if (contentType !== null) return [{ place: 'image', upload: held('image', bytes, contentType) }];
  return invalid('image', "'image' is no PNG, JPEG or WebP as a data: URL with base64.");
}

const DATA_URL = /^data:[^,]*;base64,(.*)$/s;

/**
 * Without this check a picture that has no placeholder in the workflow would be silently ignored.
 */
function placeFault(
  { model }: LocalCall,
  pictures: readonly Picture[],
  places: readonly Placeholder[],
): DocumentAnswer | null {
  const names = new Set(places.map(({ name }) => name));
  const homeless = pictures.find(({ place }) => !names.has(place));
  if (homeless !== undefined) {
    const what = homeless.place.startsWith('image_') ? 'so many images' : `'${homeless.place}'`;
    return invalid(homeless.upload.name, `${model.id} has no use for ${what}. Leave it away.`);
  }
  const large = pictures.find(({ upload }) => upload.bytes > MAX_UPLOAD_BYTES);
  if (large !== undefined) {
    const { name, bytes } = large.upload;
    return invalid(name, `'${name}' has ${bytes} bytes, and ${MAX_UPLOAD_BYTES} are the most.`);
  }
  const given = new Set<string>(pictures.map(({ place }) => place));
  const isMissing = ({ name, fallback }: Placeholder) =>
    fallback === null && !given.has(name) && (name === 'mask' || name.startsWith('image'));
  const missing = places.find(isMissing)?.name;
  if (missing === undefined) return null;
  const param = missing === 'mask' ? 'mask' : 'image';
  return invalid(param, `${model.id} works on pictures, and its '${missing}' is missing. Send it.`);
}

async function maskOf(upload: LocalUpload): Promise<LocalUpload | DocumentAnswer> {
  const mask = await repaintMask(await readWhole(upload.read(), MAX_UPLOAD_BYTES));
  if (mask.kind === 'mask') return held('mask', mask.png, 'image/png');
  const advice = 'Send a PNG that is transparent where the image is to be edited.';
  return invalid('mask', `'mask' ${mask.fault}. ${advice}`);
}

/** The file name for the graph, or ComfyUI's refusal. */
async function send(
  { root, apiKey }: ComfyServer,
  upload: LocalUpload,
  signal: AbortSignal,
): Promise<string | DocumentAnswer> {
  const { contentType, bytes } = upload;
  const filename = `gateway-${randomUUID()}.${extensionOf(contentType)}`;
  const file = { name: 'image', filename, contentType, bytes, read: () => upload.read() };
  const body = multipartForm([['type', 'temp']], [file]);
  const answer = await forward({ url: `${root}/upload/image`, apiKey, body, signal });
  const text = (await readWhole(answer.body, MAX_ANSWER_BYTES)).toString();
  if (answer.status >= 400) return errorDocument(answer.status, text);
  const { name, subfolder, type } = asObject(parseJson(text)) ?? {};
  if (asText(name) === null) {
    throw new LocalFailure('LOCAL_ERROR', 'ComfyUI took a picture without saying its name.');
  }
  const path = [asText(subfolder), asText(name)].filter((part) => part !== null).join('/');
  return type === 'temp' ? `${path} [temp]` : path;
}

function held(name: string, bytes: Buffer, contentType: string): LocalUpload {
  return { name, contentType, bytes: bytes.length, read: () => inPieces(bytes) };
}

function invalid(param: string, message: string): DocumentAnswer {
  return refusal(400, message, { code: 'invalid_value', param });
}
