/** The thread of `large-bodies.ts`: parses, checks and writes one body or transcript at a time. */
import { assertNever } from '@inference-gateway/shared/assert';
import { ApiError } from '@inference-gateway/shared/errors';
import { MAX_SMALL_BYTES } from '@inference-gateway/shared/json/scan';
import type { EndpointKey } from '@inference-gateway/shared/endpoints';
import { namesFile } from '@inference-gateway/shared/openai/batch-files';
import { requestExcerpt } from '@inference-gateway/shared/openai/excerpt';
import { TOKEN_FIELDS } from '@inference-gateway/shared/openai/tokens';
import { answerInThread, ownBlock } from '@inference-gateway/shared/program/thread-queue';
import { toSparse, writeSparse } from '@inference-gateway/shared/json/sparse';
import { MAX_ANSWER_BYTES } from '../../core/usage/held-document.js';
import { digestsOfMessages, isConversation, sessionIn } from '../../relay/conversations.js';
import { transcriptOf } from '../answers/transcript.js';
import { translatedOf } from '../answers/translated-answer.js';
import type { Rendered } from '../answers/json-answer.js';
import {
  countPrompt,
  judgeBatch,
  judgeLine,
  judgeRequest,
  mediaIn,
  parseJson,
  submissionOf,
} from './judge-body.js';
import type { JudgedLine, JudgedRequest, MediaPart, Submission } from './judge-body.js';
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
    case 'line':
      return 'endpoint' in answer.item ? [answer.item.body] : [];
    case 'rendered':
      return typeof answer.rendered === 'string' ? [] : [answer.rendered.body];
    case 'count':
      return answer.counted.chat === null ? [] : [answer.counted.chat];
    case 'fault':
      return [];
    default:
      return assertNever(answer);
  }
}

function answerTo(question: ThreadQuestion, bytes: Buffer): Answer {
  let submission: Submission | null = null;
  try {
    if (question.kind === 'transcript') return written(transcriptOf(bytes, question.facts));
    if (question.kind === 'translation') return written(translatedOf(bytes, question));
    const value = parseJson(bytes);
    if (question.kind === 'count') {
      const { chat, ...counted } = countPrompt(value);
      return { kind: 'count', counted: { ...counted, chat: chat && ownBlock(chat) } };
    }
    if (question.kind === 'line') return lineOf(judgeLine(value, question.limits));
    if (question.kind === 'batch') {
      if (namesFile(value)) throw largeFileBatch();
      const { items, label, webhook } = judgeBatch(value, question);
      const ready = items.map((item) => ({ endpoint: item.endpoint, ...write(item, []) }));
      return { kind: 'batch', items: ready, label, webhook };
    }
    submission = submissionOf(value, question.api);
    const judged = judgeRequest(value, question).take();
    const { endpoint, memberId } = question;
    const { model, body } = judged.request;
    const prefixes = isConversation(endpoint, bytes)
      ? digestsOfMessages(memberId, model, body['messages'])
      : [];
    return { kind: 'request', submission, ...write({ endpoint, ...judged }, prefixes) };
  } catch (error) {
    return { kind: 'fault', submission, fault: faultOf(error) };
  }
}

function lineOf({ customId, path, take }: JudgedLine): Answer {
  try {
    const item = take();
    const { endpoint } = item;
    return { kind: 'line', customId, path, item: { endpoint, ...write(item, []) } };
  } catch (error) {
    return { kind: 'line', customId, path, item: faultOf(error) };
  }
}

/** Its fields are few and short. */
function largeFileBatch(): ApiError {
  const message = `A batch of a file is described in at most ${MAX_SMALL_BYTES} bytes. Send less.`;
  return new ApiError('body_too_large', message);
}

function written(rendered: Rendered | ApiError | string): Answer {
  if (rendered instanceof ApiError) throw rendered;
  if (typeof rendered === 'string') return { kind: 'rendered', rendered };
  // Missing fields are added, which may be much more than was sent.
  if (rendered.body.length > MAX_ANSWER_BYTES) {
    return { kind: 'rendered', rendered: 'it is longer than 32 MiB when it is written out' };
  }
  return { kind: 'rendered', rendered: { ...rendered, body: ownBlock(rendered.body) } };
}

type JudgedItem = JudgedRequest & { readonly endpoint: EndpointKey };

function write(
  { endpoint, request, translated }: JudgedItem,
  prefixes: readonly string[],
): Written {
  const { body, ...rest } = request;
  for (const name of KEPT) {
    const { length } = JSON.stringify(body[name] ?? null);
    if (length <= MAX_KEPT_CHARACTERS) continue;
    const message = `'${name}' has ${length} characters; ${MAX_KEPT_CHARACTERS} are allowed.`;
    throw new ApiError('invalid_value', message, { param: name });
  }
  const bytes = ownBlock(writeSparse(toSparse(body, KEPT)));
  const reading = {
    media: firstMedia(body['messages']),
    prefixes,
    session: sessionIn(body),
    excerpt: requestExcerpt(endpoint, body),
  };
  return { request: rest, body: bytes, reading, ...(translated && { translated }) };
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
