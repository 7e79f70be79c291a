/**
 * An image request in the fields of `/sdapi/v1`. Only the fields named here pass: scripts,
 * extensions and settings in a caller's body would mean code and files on the owner's machine.
 */
import type { LocalCall, DocumentAnswer } from '../backend.js';
import { LocalFailure } from '../backend.js';
import { asText, asObject, parseJson } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { readNumber, readSize } from '../../openai-wire/request-body.js';
import type { NumberRange, PixelSize } from '../../openai-wire/request-body.js';
import { errorDocument, readReportedError } from '../../openai-wire/error-document.js';

/** The source image of an edit, in base64. */
export interface EditedImage {
  readonly image: string;
  /** White in the area to repaint. */
  readonly mask: string | null;
  /** Null if it could not be read. */
  readonly size: PixelSize | null;
}

/** A caller must not occupy the card for hours; the web UI's own sliders have this limit. */
const MAX_STEPS = 150;

const MAX_SCALE = 30;

const MAX_IMAGES = 16;

const MAX_SEED = 2 ** 32 - 1;

const RANDOM_SEED = -1;

/** The models work on blocks of 8 by 8 pixels. */
const BLOCK = 8;

const MIN_SIDE = 64;

const MAX_SIDE = 4_096;

/** The web UI's own default: how much an edit may differ from the source. */
const EDIT_STRENGTH = 0.75;

/** For `/sdapi/v1/txt2img`; `taskId` is the name that the server gives the job. */
export function textToImage({ body, model }: LocalCall, taskId: string): JsonObject {
  const { prompt, negative_prompt: negative, sampler_name: sampler } = body;
  return {
    prompt: asText(prompt) ?? '',
    negative_prompt: asText(negative) ?? '',
    ...given('sampler_name', asText(sampler)),
    ...given('steps', whole(body['steps'], { from: 1, to: MAX_STEPS })),
    ...given('cfg_scale', readNumber(body['cfg_scale'], { from: 0, to: MAX_SCALE })),
    ...inBlocks(readSize(body['size'])),
    seed: whole(body['seed'], { from: RANDOM_SEED, to: MAX_SEED }) ?? RANDOM_SEED,
    // One image at a time: a batch would need n times the memory of the card.
    batch_size: 1,
    n_iter: imageCount(body),
    override_settings: { sd_model_checkpoint: model.served_name },
    override_settings_restore_afterwards: true,
    send_images: true,
    save_images: false,
    force_task_id: taskId,
  };
}

/** For `/sdapi/v1/img2img`. */
export function imageToImage(call: LocalCall, taskId: string, edited: EditedImage): JsonObject {
  const { image, mask, size } = edited;
  const strength = readNumber(call.body['denoising_strength'], { from: 0, to: 1 });
  return {
    ...inBlocks(size),
    ...textToImage(call, taskId),
    init_images: [image],
    include_init_images: false,
    denoising_strength: strength ?? EDIT_STRENGTH,
    ...(mask !== null && { mask, ...WHOLE_PICTURE }),
  };
}

/** The number of images in the request. */
export function imageCount(body: LocalCall['body']): number {
  return whole(body['n'], { from: 1, to: MAX_IMAGES }) ?? 1;
}

/**
 * The prompt describes the whole picture, not only the masked part, and painting starts from the
 * existing content.
 */
const WHOLE_PICTURE = { inpaint_full_res: false, inpainting_fill: 1, inpainting_mask_invert: 0 };

function given(name: string, value: string | number | null): JsonObject {
  return value === null ? {} : { [name]: value };
}

/** Without a size the server uses its default. */
function inBlocks(size: PixelSize | null): JsonObject {
  if (size === null) return {};
  return { width: side(size.width), height: side(size.height) };
}

function side(pixels: number): number {
  return Math.min(Math.max(Math.round(pixels / BLOCK) * BLOCK, MIN_SIDE), MAX_SIDE);
}

function whole(value: unknown, range: NumberRange): number | null {
  const number = readNumber(value, range);
  return number === null ? null : Math.round(number);
}

// The answer of `/sdapi/v1/txt2img` and `img2img`.

/**
 * The requested images, in base64. Grids precede them, and images by extensions, such as depth
 * maps, follow. Throws a `LocalFailure` if there is none.
 */
export function readImages(text: string, count: number): string[] {
  const { images, info } = asObject(parseJson(text)) ?? {};
  const all = Array.isArray(images) ? images.map(asText).filter((image) => image !== null) : [];
  const first = firstImage(info) ?? (all.length > count ? 1 : 0);
  const asked = all.slice(first, first + count).map(withoutPrefix);
  if (asked.length > 0) return asked;
  throw new LocalFailure('LOCAL_ERROR', 'the local server answered without an image.');
}

/**
 * `{error, detail, body, errors}`: `error` names a Python class; the cause is in `detail` or, for
 * unexpected errors, in `errors`.
 */
export function readFailure(status: number, text: string): DocumentAnswer {
  const said = asObject(parseJson(text));
  if (said === null || typeof said['error'] !== 'string') return errorDocument(status, text);
  const { error, detail, errors } = said;
  const told = detail === '' ? null : readReportedError({ detail })?.message;
  return errorDocument(status, JSON.stringify({ error: told ?? asText(errors) ?? error }));
}

/** The server reports the number of grids before the images. Null in forks that do not. */
function firstImage(info: unknown): number | null {
  const facts = asObject(typeof info === 'string' ? parseJson(info) : info);
  const index = facts?.['index_of_first_image'];
  return typeof index === 'number' && Number.isSafeInteger(index) && index >= 0 ? index : null;
}

/** Some forks return data URLs. */
function withoutPrefix(image: string): string {
  return image.startsWith('data:') ? image.slice(image.indexOf(',') + 1) : image;
}
