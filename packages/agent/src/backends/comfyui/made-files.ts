/** The files that a job made: which of them an answer has, and their bytes. */
import { contentTypeOf, DETECT_BYTES, detectFormat } from '@inference-gateway/shared/media/types';
import type { MediaFamily } from '@inference-gateway/shared/media/types';
import { startOf } from '../../media/start-of.js';
import { streamWithoutMetadata } from '../../media/stream-without-metadata.js';
import { withoutMetadata } from '../../media/without-metadata.js';
import { asObject, asObjects, asText } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import { LocalFailure } from '../backend.js';
import type { MediaPart } from '../backend.js';
import { forward } from '../forward.js';
import { inPieces } from '../in-pieces.js';
import { readWhole } from '../read-whole.js';
import type { ComfyServer } from './comfy-server.js';

export interface MadeFile {
  readonly filename: string;
  readonly subfolder: string;
  /** The folder: `output`, or `temp` for previews. */
  readonly type: string;
}

/** 4,096 pixels a side, hardly compressed. */
const MAX_IMAGE_BYTES = 64 * 1024 * 1024;

/**
 * Nodes show films under `images`, `gifs` or `videos`, so the endings tell what is what. Previews
 * count only where nothing was saved.
 */
export function madeFiles(outputs: JsonObject, family: MediaFamily): MadeFile[] {
  const all = Object.values(outputs).flatMap((node) => {
    const lists = Object.values(asObject(node) ?? {});
    return lists.flatMap(asObjects).flatMap(readFile);
  });
  const fitting = all.filter(({ filename }) => ENDINGS[family].test(filename));
  const saved = fitting.filter(({ type }) => type === 'output');
  return saved.length > 0 ? saved : fitting;
}

/** Without what is written beside it; an image is read whole for that. */
export async function openMade(
  server: ComfyServer,
  file: MadeFile,
  { family, signal }: { readonly family: MediaFamily; readonly signal: AbortSignal },
): Promise<MediaPart> {
  const bytes = await view(server, file, signal);
  if (family === 'image') {
    const clean = withoutMetadata(await readWhole(bytes, MAX_IMAGE_BYTES));
    const { contentType } = formatOf(clean, family);
    return { contentType, revisedPrompt: null, bytes: inPieces(clean) };
  }
  const { start, bytes: whole } = await startOf(bytes, DETECT_BYTES);
  const { format, contentType } = formatOf(start, family);
  return { contentType, revisedPrompt: null, bytes: streamWithoutMetadata(whole, format) };
}

const ENDINGS = {
  image: /\.(?:png|jpe?g|webp)$/i,
  video: /\.(?:mp4|m4v|mov|webm|mkv)$/i,
  audio: /\.(?:flac|mp3|opus|ogg|wav|m4a|aac)$/i,
} as const satisfies Record<MediaFamily, RegExp>;

function readFile({ filename, subfolder, type }: JsonObject): MadeFile[] {
  const name = asText(filename);
  if (name === null) return [];
  return [{ filename: name, subfolder: asText(subfolder) ?? '', type: asText(type) ?? 'output' }];
}

async function view(
  { root, apiKey }: ComfyServer,
  { filename, subfolder, type }: MadeFile,
  signal: AbortSignal,
): Promise<AsyncIterable<Uint8Array>> {
  const query = new URLSearchParams({ filename, subfolder, type });
  const answer = await forward({
    url: `${root}/view?${query.toString()}`,
    apiKey,
    body: null,
    signal,
  });
  if (answer.status === 200) return answer.body;
  answer.body.abandon();
  const message = `ComfyUI answered ${answer.status} to a file that it had just made.`;
  throw new LocalFailure('LOCAL_ERROR', message);
}

/** What the bytes are, whatever their name says. */
function formatOf(start: Uint8Array, family: MediaFamily) {
  const format = detectFormat(start);
  const contentType = format === null ? null : contentTypeOf(format, family);
  if (format !== null && contentType !== null) return { format, contentType };
  throw new LocalFailure('LOCAL_ERROR', `the workflow made something that is no ${family}.`);
}
