/** The state of the image tab, and its requests. */
import type { ApiRequest, RequestFile } from '../call.js';
import { change, keptCell } from '../kept-cell.js';
import type { RunFacts } from '../run-facts.js';
import { IDLE, timedRun } from '../timed-run.js';
import type { RunState } from '../timed-run.js';
import { isPainted } from './mask.js';
import type { Mask } from './mask.js';
import { maskFile, uprightFile } from './mask-file.js';
import type { Source } from './mask-file.js';

export interface Images {
  readonly mode: 'generate' | 'edit';
  readonly model: string;
  readonly prompt: string;
  /** Empty: the model's default. */
  readonly size: string;
  readonly count: string;
  readonly isAsync: boolean;
  readonly source: Source | null;
  readonly mask: Mask;
  readonly run: RunState;
  readonly results: readonly ImageResult[];
}

export interface ImageResult {
  readonly id: number;
  readonly prompt: string;
  readonly model: string;
  /** Paths on this origin. */
  readonly paths: readonly string[];
  readonly facts: RunFacts;
}

/** Older results are in the library. */
const MAX_RESULTS = 20;

const EMPTY: Images = {
  mode: 'generate',
  model: '',
  prompt: '',
  size: '',
  count: '1',
  isAsync: false,
  source: null,
  mask: [],
  run: IDLE,
  results: [],
};

export const images = keptCell(
  () => EMPTY,
  ({ source }) => (source === null ? [] : [source.url]),
);

export function changeImages(changes: Partial<Images>): void {
  change(images, changes);
}

export function setSource(source: Source | null): void {
  changeImages({ source, mask: [], ...(source !== null && { mode: 'edit' }) });
}

type ImageFields = Pick<Images, 'model' | 'prompt' | 'size' | 'count'>;

/** `count` as typed; the server clamps it. */
export function imageBody({ model, prompt, size, count }: ImageFields): ApiRequest['body'] {
  const n = Number(count);
  return {
    model,
    prompt,
    ...(Number.isInteger(n) && n > 1 && { n }),
    ...(size !== '' && { size }),
  };
}

export function generationRequest(fields: ImageFields): ApiRequest {
  return { endpoint: 'images', body: imageBody(fields) };
}

/** Without a mask, the whole picture may be changed. */
export async function editRequest(
  fields: ImageFields & Pick<Images, 'mask'>,
  source: Source,
): Promise<ApiRequest> {
  const { name } = source;
  const isMasked = isPainted(fields.mask);
  const content = isMasked ? await uprightFile(source) : source.file;
  const mask: RequestFile[] = isMasked
    ? [{ field: 'mask', name: 'mask.png', content: await maskFile(fields.mask, source) }]
    : [];
  const files = [{ field: 'image', name, content }, ...mask];
  return { endpoint: 'edits', body: imageBody(fields), files };
}

interface ImageAnswer {
  readonly data: readonly { readonly url: string }[];
}

export async function makeImages(request: ApiRequest): Promise<void> {
  const { prompt, model } = images.value;
  const answered = await timedRun(
    request,
    async (response) => (await response.json()) as ImageAnswer,
    (run) => changeImages({ run }),
  );
  if (answered === null) return;
  const { results } = images.value;
  const paths = answered.result.data.map(({ url }) => pathOf(url));
  const id = (results[0]?.id ?? 0) + 1;
  const result = { id, prompt, model, paths, facts: answered.facts };
  changeImages({ results: [result, ...results].slice(0, MAX_RESULTS) });
}

/** Addresses of files use the public address, which may differ from the address of this page. */
export function pathOf(url: string): string {
  const { pathname, search } = new URL(url, 'http://localhost');
  return `${pathname}${search}`;
}
