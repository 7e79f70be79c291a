/**
 * A request's files from its workflow. Where the workflow has no `{{n}}`, it runs once for each
 * image, one after the other: a batch needs the memory of the card n times, and each image can be
 * sent on as soon as it is there.
 */
import type { MediaFamily } from '@inference-gateway/shared/media/types';
import { LocalFailure } from '../backend.js';
import type { LocalAnswer, MediaPart } from '../backend.js';
import type { ComfyServer } from './comfy-server.js';
import { madeFiles, openMade } from './made-files.js';
import type { MadeFile } from './made-files.js';
import type { Made } from './outcome.js';
import { fillGraph } from './placeholders.js';
import type { Graph } from './placeholders.js';
import { valueOf } from './request-values.js';
import type { Values } from './request-values.js';
import { runPrompt } from './run-prompt.js';

export interface Order {
  readonly graph: Graph;
  readonly values: Values;
  readonly family: MediaFamily;
  /** How many files; one unless they are images. */
  readonly wanted: number;
  readonly signal: AbortSignal;
}

/** The first run comes before the answer, so that its failure can be told. */
export async function makeMedia(server: ComfyServer, order: Order): Promise<LocalAnswer> {
  const first = await run(server, order, 0);
  if (first.kind === 'document') return first;
  return { kind: 'media', parts: parts(server, order, filesOf(first, order)) };
}

async function* parts(
  server: ComfyServer,
  order: Order,
  first: readonly MadeFile[],
): AsyncGenerator<MediaPart, void, void> {
  let had = 0;
  for (let files = first; ; files = await again(server, order, had)) {
    for (const file of files.slice(0, order.wanted - had)) {
      yield await openMade(server, file, order);
      had += 1;
    }
    if (had >= order.wanted) return;
  }
}

async function again(server: ComfyServer, order: Order, had: number): Promise<MadeFile[]> {
  const made = await run(server, order, had);
  if (made.kind === 'made') return filesOf(made, order);
  const message = `ComfyUI made ${had} of ${order.wanted} images and then failed.`;
  throw new LocalFailure('LOCAL_ERROR', message);
}

/** The same seed would make the same image again. */
async function run(server: ComfyServer, { graph, values, signal }: Order, had: number) {
  const seed = Number(values.get('seed')) + had;
  const now = new Map(values).set('seed', seed);
  return runPrompt(
    server,
    fillGraph(graph, (place) => valueOf(place, now)),
    signal,
  );
}

/** At least one. */
function filesOf({ outputs }: Made, { family }: Order): MadeFile[] {
  const files = madeFiles(outputs, family);
  if (files.length > 0) return files;
  throw new LocalFailure('LOCAL_ERROR', `the workflow ended without a file of ${family}.`);
}
