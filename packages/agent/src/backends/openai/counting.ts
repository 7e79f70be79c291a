/**
 * The tokens of a prompt, counted by the server's own tokenizer: it applies the model's chat
 * template, but the model does not run.
 */
import { serverRoot } from '../probe.js';
import { TEMPLATE_FIELDS } from '@inference-gateway/shared/openai/tokens';
import { TOKEN_COUNTING } from '@inference-gateway/shared/protocol/messages';
import type { AdvertisedModel } from '@inference-gateway/shared/protocol/messages';
import { writeSparse } from '@inference-gateway/shared/json/sparse';
import { errorDocument, notServed, refusal } from '../../openai-wire/error-document.js';
import { asObject, parseJson } from '../../openai-wire/json.js';
import { withoutFields } from '../../openai-wire/request-body.js';
import { LocalFailure } from '../backend.js';
import type { DocumentAnswer, LocalCall, ServiceConfig } from '../backend.js';
import { readWhole } from '../bytes.js';
import { forward } from '../forward.js';
import type { CallTarget } from '../run-call.js';
import type { Dialect } from './dialect.js';

/** For the server; the coordinator gives up earlier. */
const MAX_COUNTING_MS = 10_000;
/** Of a written prompt, and of a list of token ids; coordinators ask for prompts of 4 MiB. */
const MAX_ANSWER_BYTES = 32 * 1024 * 1024;

/** The models of a text service, with the flag exactly where their server counts. */
export function tellCounting(
  models: readonly AdvertisedModel[],
  { type }: Pick<ServiceConfig, 'type'>,
  way: Dialect['counting'],
): AdvertisedModel[] {
  const told = type === 'llm' && way !== undefined ? [TOKEN_COUNTING] : [];
  return models.map((model) => {
    const others = model.supported_features.filter((feature) => feature !== TOKEN_COUNTING);
    return { ...model, supported_features: [...others, ...told] };
  });
}

/** Answers `{input_tokens}`. Throws a `LocalFailure`, or the signal's abort reason. */
export async function countTokens(target: CallTarget, call: LocalCall): Promise<DocumentAnswer> {
  const way = target.dialect?.counting;
  if (way === undefined) return notServed(call);
  // The question would load it, and perhaps unload the model that others use.
  if (call.model.loaded === false) return notLoaded(call);
  const limit = AbortSignal.timeout(MAX_COUNTING_MS);
  const limited = { ...call, signal: AbortSignal.any([call.signal, limit]) };
  try {
    return await (way === 'template' ? countTemplate : countMessages)(target, limited);
  } catch (error) {
    if (!limit.aborted || call.signal.aborted) throw error;
    const message = `the local server counted for more than ${MAX_COUNTING_MS / 1_000} s.`;
    throw new LocalFailure('LOCAL_TIMEOUT', message);
  }
}

async function countTemplate(target: CallTarget, call: LocalCall): Promise<DocumentAnswer> {
  const written = await ask(target, call, { path: '/apply-template', fields: promptOf(call) });
  if (written.status >= 400) return refusedBy(written);
  const prompt = asObject(parseJson(written.bytes.toString()))?.['prompt'];
  if (typeof prompt !== 'string') throw unusable('/apply-template', 'prompt');
  // As the server splits a prompt before it answers it: the beginning of a text is a token, too.
  const fields = { content: prompt, add_special: true, parse_special: true };
  const split = await ask(target, call, { path: '/tokenize', fields });
  if (split.status >= 400) return refusedBy(split);
  return counted(countIds(split.bytes));
}

async function countMessages(target: CallTarget, call: LocalCall): Promise<DocumentAnswer> {
  const { tool_choice: _choice, parallel_tool_calls: _parallel, ...prompt } = promptOf(call);
  const fields = { ...prompt, add_generation_prompt: true };
  const answer = await ask(target, call, { path: '/tokenize', fields });
  if (answer.status >= 400) return refusedBy(answer);
  return counted(readCount(answer.bytes));
}

function promptOf({ body }: LocalCall): Record<string, unknown> {
  const names: readonly string[] = TEMPLATE_FIELDS;
  return Object.fromEntries(Object.entries(body).filter(([name]) => names.includes(name)));
}

interface Asked {
  readonly path: string;
  readonly fields: Readonly<Record<string, unknown>>;
}

interface Answered {
  readonly status: number;
  readonly bytes: Buffer;
}

async function ask(target: CallTarget, call: LocalCall, asked: Asked): Promise<Answered> {
  const { baseUrl, apiKey, dropFields } = target;
  const { signal, model } = call;
  // A router finds the model by its name.
  const fields = { ...withoutFields(asked.fields, dropFields), model: model.served_name };
  const url = serverRoot(baseUrl) + asked.path;
  const answer = await forward({ url, apiKey, body: writeSparse(fields), signal });
  const { status } = answer;
  if (status >= 300 && status < 400) {
    answer.body.abandon();
    throw new LocalFailure('LOCAL_ERROR', `the local server answered ${status} to ${asked.path}.`);
  }
  return { status, bytes: await readWhole(answer.body, MAX_ANSWER_BYTES) };
}

function refusedBy({ status, bytes }: Answered): DocumentAnswer {
  return errorDocument(status, bytes.toString());
}

/** A long prompt has a million ids, which are counted without parsing them. */
function countIds(bytes: Buffer): number | null {
  const list = /^\s*\{\s*"tokens"\s*:\s*\[([\d\s,-]*)\]/.exec(bytes.toString('latin1'))?.[1];
  if (list === undefined) return null;
  let count = /\d/.test(list) ? 1 : 0;
  for (let at = list.indexOf(','); at !== -1; at = list.indexOf(',', at + 1)) count += 1;
  return count;
}

/** Its answer also lists the ids; it has no texts that could look like the field. */
function readCount(bytes: Buffer): number | null {
  const count = /"count"\s*:\s*(\d{1,9})\b/.exec(bytes.toString('latin1'))?.[1];
  return count === undefined ? null : Number(count);
}

function counted(tokens: number | null): DocumentAnswer {
  if (tokens === null || tokens < 1) throw unusable('/tokenize', 'number of tokens');
  const json = JSON.stringify({ input_tokens: tokens });
  return { kind: 'document', status: 200, json, usage: null };
}

function unusable(path: string, missing: string): LocalFailure {
  return new LocalFailure('LOCAL_ERROR', `the local server answered ${path} without a ${missing}.`);
}

function notLoaded({ model }: LocalCall): DocumentAnswer {
  const message = `${model.id} is not loaded here, and is not loaded to count tokens.`;
  return refusal(503, message, { code: 'model_not_loaded' });
}
