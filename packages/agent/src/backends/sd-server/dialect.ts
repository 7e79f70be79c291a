/**
 * stable-diffusion.cpp's sd-server. Its OpenAI paths call every model `sd-cpp-local`, and use seed
 * 42 unless the prompt contains another: the same prompt would always make the same image.
 */
import { randomInt } from 'node:crypto';
import { withHiddenArguments } from '../../openai-wire/request-body.js';
import { pauseUnless } from '@inference-gateway/shared/program/pause-unless';
import { errorDocument } from '../../openai-wire/error-document.js';
import { asObject, asObjects, asText, parseJson } from '../../openai-wire/json.js';
import type { JsonObject } from '../../openai-wire/json.js';
import type { ListedFile } from '../../openai-wire/media-list.js';
import { LocalFailure } from '../backend.js';
import type { DocumentAnswer, LocalCall } from '../backend.js';
import { connectionFailure, forward } from '../forward.js';
import { outlive } from '../run-call.js';
import { probe } from '../probe.js';
import { readWhole } from '../bytes.js';
import type { AskedServer, Dialect, OwnServer, Listing } from '../openai/dialect.js';
import { listItems } from '../openai/list.js';

export const sdServer: Dialect = {
  list,
  outlives: ['images'],
  draw,
  shape({ seed: given, ...fields }) {
    const seed = seedOf(given);
    const prompt = asText(fields['prompt']);
    // Without a prompt the server itself returns the error.
    if (prompt === null) return fields;
    return { ...fields, seed, prompt: withHiddenArguments(prompt, { seed }) };
  },
};

const MAX_SEED = 0x7fff_ffff;

/** Form fields are text. */
function seedOf(given: unknown): number {
  const asked = Number(given ?? -1);
  return asked >= 0 ? Math.min(Math.round(asked), MAX_SEED) : randomInt(MAX_SEED);
}

const FIRST_PAUSE_MS = 100;
const LONGEST_PAUSE_MS = 1_000;
const PAUSE_GROWTH = 1.5;
/** For polling and cancelling a job. */
const ASK_TIMEOUT_MS = 10_000;
/** Consecutive polls without an answer: a busy card can delay the server. */
const MAX_UNANSWERED = 3;
/** Four images of 4096 by 4096 pixels, in base64. */
const MAX_ANSWER_BYTES = 192 * 1024 * 1024;
const MAX_UPLOAD_BYTES = 32 * 1024 * 1024;

/**
 * Uses its jobs API, available since April 2026: OpenAI's paths neither notice that a caller has
 * left, nor report when the card is free again. A queued job is cancelled. A running one cannot be
 * (yet): the agent waits for its end.
 */
async function draw(
  server: OwnServer,
  call: LocalCall,
  fields: Readonly<JsonObject>,
): Promise<readonly ListedFile[] | DocumentAnswer | null> {
  // Without a prompt the server itself returns the error.
  if (asText(fields['prompt']) === null || !(await hasJobs(server, call.signal))) return null;
  const body = JSON.stringify({ ...jobOf(fields), ...(await picturesOf(call)) });
  call.signal.throwIfAborted();
  const submitted = await ask(server, '/img_gen', body);
  if (submitted.status >= 400) return errorDocument(submitted.status, submitted.text);
  const id = asText(asObject(parseJson(submitted.text))?.['id']);
  if (id === null) throw new LocalFailure('LOCAL_ERROR', 'the local server gave its job no id.');
  const takeBack = (): void => {
    void ask(server, `/jobs/${encodeURIComponent(id)}/cancel`, '{}').catch(() => undefined);
  };
  call.signal.addEventListener('abort', takeBack, { once: true });
  if (call.signal.aborted) takeBack();
  try {
    return await outlive(call.signal, (signal) => resultOf(server, id, signal));
  } finally {
    call.signal.removeEventListener('abort', takeBack);
  }
}

async function hasJobs({ root, apiKey }: OwnServer, signal: AbortSignal): Promise<boolean> {
  const { status, json } = await probe(`${root}/sdcpp/v1/capabilities`, { apiKey, signal });
  const modes = asObject(json)?.['supported_modes'];
  return status === 200 && Array.isArray(modes) && modes.includes('img_gen') && hasCancel(json);
}

/** The first versions report capabilities but cannot cancel a job. */
function hasCancel(json: unknown): boolean {
  return asObject(asObject(json)?.['features'])?.['cancel_queued'] === true;
}

/** Only the fields of OpenAI's paths: others name adapters and files. */
function jobOf(fields: Readonly<JsonObject>): JsonObject {
  const { prompt, n, size, seed, output_format: format, output_compression: quality } = fields;
  const [, width, height] = /^(\d+)x(\d+)$/.exec(asText(size) ?? '') ?? [];
  return {
    prompt,
    batch_count: Number(n ?? 1),
    seed: seedOf(seed),
    ...(width !== undefined && { width: Number(width), height: Number(height) }),
    ...(typeof format === 'string' && { output_format: format }),
    ...(quality !== undefined && { output_compression: Number(quality) }),
  };
}

/** For an edit. Without a requested size it takes the picture's size, not the server's default. */
async function picturesOf({ uploads, body }: LocalCall): Promise<JsonObject> {
  const images: string[] = [];
  let mask: string | null = null;
  for (const upload of uploads) {
    const bytes = await readWhole(upload.read(), MAX_UPLOAD_BYTES);
    if (upload.name === 'mask') mask = bytes.toString('base64');
    else images.push(bytes.toString('base64'));
  }
  if (images.length === 0) return {};
  return {
    ...(asText(body['size']) === null && { width: -1, height: -1 }),
    init_image: images[0],
    ref_images: images,
    ...(mask !== null && { mask_image: mask }),
  };
}

async function resultOf(
  server: OwnServer,
  id: string,
  signal: AbortSignal,
): Promise<readonly ListedFile[] | DocumentAnswer> {
  let unanswered = 0;
  for (
    let pauseMs = FIRST_PAUSE_MS;
    ;
    pauseMs = Math.min(pauseMs * PAUSE_GROWTH, LONGEST_PAUSE_MS)
  ) {
    await pauseUnless(signal, pauseMs);
    const answer = await ask(server, `/jobs/${encodeURIComponent(id)}`, null).catch(
      (error: unknown) => {
        unanswered += 1;
        if (unanswered > MAX_UNANSWERED) throw error;
        return null;
      },
    );
    if (answer === null) continue;
    unanswered = 0;
    const { status, text } = answer;
    const job = asObject(parseJson(text));
    if (status >= 300 || job === null) {
      const message = `the local server knows no more of its job (${status}). Was it restarted?`;
      throw new LocalFailure('LOCAL_ERROR', message);
    }
    if (job['status'] === 'completed') return imagesIn(job);
    if (job['status'] === 'failed' || job['status'] === 'cancelled')
      return errorDocument(500, text);
  }
}

function imagesIn(job: JsonObject): readonly ListedFile[] {
  const images = asObjects(asObject(job['result'])?.['images']);
  return images.flatMap(({ b64_json: base64 }) =>
    typeof base64 === 'string' ? [{ base64, url: null, revisedPrompt: null }] : [],
  );
}

async function ask({ root, apiKey }: OwnServer, path: string, body: string | null) {
  const signal = AbortSignal.timeout(ASK_TIMEOUT_MS);
  const answer = await forward({ url: `${root}/sdcpp/v1${path}`, apiKey, body, signal }).catch(
    told,
  );
  const bytes = await readWhole(answer.body, MAX_ANSWER_BYTES).catch(told);
  return { status: answer.status, text: bytes.toString() };
}

function told(error: unknown): never {
  throw connectionFailure(error);
}

/** One model at a time and one queue: it is always loaded. Its OpenAI paths have no video. */
async function list(server: AskedServer): Promise<Listing> {
  if (server.type !== 'image') return { models: [], slots: 1 };
  const known = asObjects(await server.find(`${server.root}/sdapi/v1/sd-models`));
  const names = known.flatMap(
    (model) => asText(model['model_name']) ?? asText(model['title']) ?? [],
  );
  // Before it had the web UI's paths its model had no other name.
  const listed = names.length > 0 ? names : (await listItems(server)).map(({ id }) => id);
  return { models: listed.map((servedName) => ({ servedName, loaded: true })), slots: 1 };
}
