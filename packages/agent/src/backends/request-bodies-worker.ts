/** The thread of `request-bodies.ts`: parses, checks and writes one body at a time. */
import { kindOf, promptsOf, withPrompt } from '@inference-gateway/shared/openai/kinds';
import { estimatePromptTokens, TOKEN_FIELDS } from '@inference-gateway/shared/openai/tokens';
import { REQUEST_SCHEMAS } from '@inference-gateway/shared/openai/request-schemas';
import { answerInThread, ownBlock } from '@inference-gateway/shared/program/thread-queue';
import { toSparse, writeSparse } from '@inference-gateway/shared/json/sparse';
import { checkBody } from '../openai-wire/checked-body.js';
import type { BodyQuestion } from '../openai-wire/checked-body.js';
import type { JsonObject } from '../openai-wire/json.js';
import type { ThreadAnswer } from './request-bodies.js';

/** Fields of text requests that the event loop reads or changes; coordinators limit their size. */
const KEPT_OF_TEXTS: ReadonlySet<string> = new Set([...TOKEN_FIELDS, 'stream', 'stream_options']);

answerInThread({
  answerTo,
  blocksOf: (answer) => (answer.kind === 'checked' ? [answer.written] : []),
});

function answerTo(question: BodyQuestion, bytes: Buffer): ThreadAnswer {
  try {
    const checked = checkBody(JSON.parse(bytes.toString()), question);
    if (checked.kind === 'refused') return checked;
    const written = ownBlock(writeSparse(toSparse(checked.body, keptOf(question))));
    return { kind: 'checked', written, promptTokens: promptTokensOf(question, checked.body) };
  } catch (error) {
    return { kind: 'failed', message: error instanceof Error ? error.message : String(error) };
  }
}

/**
 * For media, all fields that backends read: texts and a picture, which are cheap to parse again.
 */
function keptOf({ endpoint }: BodyQuestion): ReadonlySet<string> {
  if (kindOf(endpoint).text !== null) return KEPT_OF_TEXTS;
  return new Set(Object.keys(REQUEST_SCHEMAS[endpoint].shape));
}

function promptTokensOf({ endpoint }: BodyQuestion, body: JsonObject): number[] {
  if (kindOf(endpoint).text === null) return [];
  const prompts = promptsOf(endpoint, body);
  return prompts.map((prompt) => estimatePromptTokens(withPrompt(endpoint, body, prompt)));
}
