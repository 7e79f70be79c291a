/** An edit's files, as Stable Diffusion's web UI wants them: whole, in JSON, the mask in white. */
import { readImageSize } from '../../media/image-size.js';
import { repaintMask } from '../../media/repaint-mask.js';
import type { EditedImage } from './request.js';
import { refusal } from '../../openai-wire/error-document.js';
import type { DocumentAnswer, LocalCall } from '../backend.js';
import { readWhole } from '../read-whole.js';

export type ReadEdit =
  | { readonly kind: 'edit'; readonly edited: EditedImage }
  | { readonly kind: 'refused'; readonly answer: DocumentAnswer };

const MAX_UPLOAD_BYTES = 32 * 1024 * 1024;

export async function readEdit({ model, uploads }: LocalCall): Promise<ReadEdit> {
  const images = uploads.filter(({ name }) => name === 'image');
  if (images.length !== 1) {
    return refused('image', `${model.id} edits one image at a time, and ${images.length} came.`);
  }
  const tooLarge = uploads.find(({ bytes }) => bytes > MAX_UPLOAD_BYTES);
  if (tooLarge !== undefined) {
    const { name, bytes } = tooLarge;
    return refused(name, `'${name}' has ${bytes} bytes, and ${MAX_UPLOAD_BYTES} are the most.`);
  }
  const files = new Map<string, Buffer>();
  for (const upload of uploads) {
    files.set(upload.name, await readWhole(upload.read(), MAX_UPLOAD_BYTES));
  }
  return edit(files.get('image') ?? Buffer.alloc(0), files.get('mask'));
}

async function edit(image: Buffer, given: Buffer | undefined): Promise<ReadEdit> {
  const mask = given === undefined ? null : await repaintMask(given);
  if (mask?.kind === 'unusable') {
    const advice = 'Send a PNG that is transparent where the image is to be edited.';
    return refused('mask', `'mask' ${mask.fault}. ${advice}`);
  }
  const edited = {
    image: image.toString('base64'),
    mask: mask?.png.toString('base64') ?? null,
    size: readImageSize(image),
  };
  return { kind: 'edit', edited };
}

function refused(param: string, message: string): ReadEdit {
  return { kind: 'refused', answer: refusal(400, message, { code: 'invalid_value', param }) };
}
