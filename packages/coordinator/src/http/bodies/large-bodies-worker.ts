/** The thread of `large-bodies.ts`: parses, checks and writes one body or transcript at a time. */
import { assertNever } from '@inference-gateway/shared/assert';
import { ApiError } from '@inference-gateway/shared/errors';
import type { ParsedRequest } from '@inference-gateway/shared/openai/requests';
import { TOKEN_FIELDS } from '@inference-gateway/shared/openai/tokens';
import { answerInThread, ownBlock } from '@inference-gateway/shared/program/thread-queue';
import { toSparse, writeSparse } from '@inference-gateway/shared/json/sparse';
import { MAX_ANSWER_BYTES } from '../../core/usage/held-document.js';
import { digestsOfMessages, isConversation } from '../../relay/conversations.js';
import { transcriptOf } from '../answers/transcript.js';
import type { TranscriptFacts } from '../answers/transcript.js';
import { isSubmission, judgeBatch, judgeRequest, mediaIn, parseJson } from './judge-body.js';
import type { MediaPart } from './judge-body.js';
import type { Answer, Fault, ThreadQuestion, Written } from './large-bodies.js';

/** Fields that are changed, counted or removed before a provider gets the body. */
const KEPT: ReadonlySet<string> = new Set([...TOKEN_FIELDS, 'stream', 'stream_options', 'voice']);
/** Each of them is read on the event loop, and need not be long. */
const MAX_KEPT_CHARACTERS = 16_384;

answerInThread({ answerTo, blocksOf });

function blocksOf(answer: Answer): Uint8Array[] {
  switch (answer.kind) {
    case 'request':
      return [answer.body];
    case 'batch':
      return answer.items.map(({ body }) => body);
    case 'transcript':
      return typeof answer.rendered === 'string' ? [] : [answer.rendered.body];
    case 'fault':
      return [];
    default:
      return assertNever(answer);
  }
}

function answerTo(question: ThreadQuestion, bytes: Buffer): Answer {
  let isAsync = false;
  try {
    if (question.kind === 'transcript') return transcriptAnswer(bytes, question.facts);
    const value = parseJson(bytes);
    isAsync = isSubmission(value);
    if (question.kind === 'batch') {
      const { items, label, webhook } = judgeBatch(value, question);
      const written = items.map(({ endpoint, request }) => ({ endpoint, ...write(request, []) }));
      return { kind: 'batch', items: written, label, webhook };
    }
    const { request } = judgeRequest(value, question).take();
    const { endpoint, memberId } = question;
    const { model, body } = request;
    const prefixes = isConversation(endpoint, bytes)
      ? digestsOfMessages(memberId, model, body['messages'])
      : [];
    return { kind: 'request', isSubmission: isAsync, ...write(request, prefixes) };
  } catch (error) {
    return { kind: 'fault', isSubmission: isAsync, fault: faultOf(error) };
  }
}

function transcriptAnswer(document: Buffer, facts: TranscriptFacts): Answer {
  const rendered = transcriptOf(document, facts);
  if (rendered instanceof ApiError) throw rendered;
  if (typeof rendered === 'string') return { kind: 'transcript', rendered };
  // Segments get the missing fields of OpenAI's own, which may be much more than was sent.
  if (rendered.body.length > MAX_ANSWER_BYTES) {
    return { kind: 'transcript', rendered: 'it is longer than 32 MiB when it is written out' };
  }
  return { kind: 'transcript', rendered: { ...rendered, body: ownBlock(rendered.body) } };
}

function write({ body, ...request }: ParsedRequest, prefixes: readonly string[]): Written {
  for (const name of KEPT) {
    const { length } = JSON.stringify(body[name] ?? null);
    if (length <= MAX_KEPT_CHARACTERS) continue;
    const message = `'${name}' has ${length} characters; ${MAX_KEPT_CHARACTERS} are allowed.`;
    throw new ApiError('invalid_value', message, { param: name });
  }
  const written = ownBlock(writeSparse(toSparse(body, KEPT)));
  return { request, body: written, reading: { media: firstMedia(body['messages']), prefixes } };
}

function firstMedia(messages: unknown): MediaPart[] {
  const first = new Map<string, MediaPart>();
  for (const part of mediaIn(messages)) if (!first.has(part.input)) first.set(part.input, part);
  return [...first.values()];
}

function faultOf(error: unknown): Fault {
  if (error instanceof ApiError) {
    const { code, message, param } = error;
    return { code, message, param };
  }
  const message = error instanceof Error ? (error.stack ?? error.message) : String(error);
  return { code: null, message, param: null };
}
