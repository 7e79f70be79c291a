/** The files of a picture and its mask. */
import { Fault } from '../../../api/fault.js';
import { drawMask } from './mask.js';
import type { Mask } from './mask.js';

export interface Source {
  readonly file: Blob;
  readonly name: string;
  /** A `blob:` URL of the file. */
  readonly url: string;
  readonly width: number;
  readonly height: number;
}

export const SOURCE_TYPES = ['image/png', 'image/jpeg', 'image/webp'];

/** Throws a `Fault` if it is not a picture. */
export async function openSource(file: Blob, name: string): Promise<Source> {
  const url = URL.createObjectURL(file);
  try {
    const { naturalWidth: width, naturalHeight: height } = await loadImage(url);
    return { file, name, url, width, height };
  } catch {
    URL.revokeObjectURL(url);
    throw new Fault(`${name} cannot be shown as a picture. Take a PNG, JPEG or WebP.`, {
      code: 'page',
    });
  }
}

/** A PNG of the picture's size, transparent in the area to change, as OpenAI's API requires. */
export function maskFile(mask: Mask, { width, height }: Source): Promise<Blob> {
  const painted = sized(width, height);
  drawMask(painted.pen, mask, { width, height });
  const { canvas, pen } = sized(width, height);
  pen.fillRect(0, 0, width, height);
  pen.globalCompositeOperation = 'destination-out';
  pen.drawImage(painted.canvas, 0, 0);
  return toBlob(canvas, 'image/png');
}

/**
 * Browsers apply the EXIF orientation of a photograph, model servers do not: the mask would not
 * fit. The result is already upright.
 */
export async function uprightFile({ file, url, width, height }: Source): Promise<Blob> {
  if (file.type !== 'image/jpeg') return file;
  const { canvas, pen } = sized(width, height);
  pen.drawImage(await loadImage(url), 0, 0);
  return toBlob(canvas, 'image/jpeg');
}

async function loadImage(url: string): Promise<HTMLImageElement> {
  const image = new Image();
  image.src = url;
  await image.decode();
  return image;
}

function sized(width: number, height: number) {
  const canvas = document.createElement('canvas');
  canvas.width = width;
  canvas.height = height;
  const pen = canvas.getContext('2d');
  if (pen === null) throw new Fault('This browser cannot draw the mask. Try another one.');
  return { canvas, pen };
}

const QUALITY = 0.95;

function toBlob(canvas: HTMLCanvasElement, type: string): Promise<Blob> {
  return new Promise((done, failed) => {
    const take = (blob: Blob | null): void => {
      if (blob !== null) done(blob);
      else failed(new Fault('The picture is too large for this browser. Make it smaller.'));
    };
    canvas.toBlob(take, type, QUALITY);
  });
}
