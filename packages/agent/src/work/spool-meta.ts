/** What is written beside a spooled answer, and read again by the next process. */
import { decodeAgentMessage } from '@inference-gateway/shared/protocol/messages';
import * as z from 'zod';
import type { AnswerLog, AnswerMessage, Mark } from './answer-log.js';

/** Of which job an answer is. */
export interface JobFacts {
  readonly jobId: string;
  readonly claimId: string;
  readonly model: string;
  readonly endpoint: string;
  /** The caller's public name. */
  readonly caller: string;
  /** Whether the caller owns this machine. */
  readonly own: boolean;
  /** Unix ms at which the run began. */
  readonly since: number;
}

export interface SpooledAnswer {
  readonly facts: JobFacts;
  readonly bytes: number;
  /** Of the bytes alone. */
  readonly sha256: string;
  /** Unix ms at which it was kept. */
  readonly keptAt: number;
  readonly marks: Mark[];
}

const text = z.string().min(1);
const count = z.int().min(0);

const answerMessage = z.unknown().transform((value, context): AnswerMessage => {
  const message = decodeMessage(value);
  if (message !== null) return message;
  context.addIssue('no message of an answer');
  return z.NEVER;
});

const spooled = z.object({
  job_id: text,
  claim_id: text,
  model: text,
  endpoint: text,
  caller: text,
  own: z.boolean(),
  since: count,
  kept_at: count,
  bytes: count,
  sha256: z.string().length(64),
  marks: z.array(z.object({ at: count, message: answerMessage })),
});

export function spoolMeta(facts: JobFacts, { length, sha256, marks }: AnswerLog): string {
  const { jobId, claimId, model, endpoint, caller, own, since } = facts;
  const kept = { bytes: length, sha256, kept_at: Date.now(), marks };
  const meta = { job_id: jobId, claim_id: claimId, model, endpoint, caller, own, since, ...kept };
  return JSON.stringify(meta);
}

/** Null where the text is not what `spoolMeta` wrote of a whole answer. */
export function decodeSpoolMeta(written: string): SpooledAnswer | null {
  const parsed = spooled.safeParse(parseJson(written));
  if (!parsed.success) return null;
  const { job_id: jobId, claim_id: claimId, model, endpoint, caller, own, since } = parsed.data;
  const { bytes, sha256, kept_at: keptAt, marks } = parsed.data;
  const last = marks.at(-1)?.message.t;
  if (last !== 'END' && last !== 'RESET') return null;
  const facts = { jobId, claimId, model, endpoint, caller, own, since };
  return { facts, bytes, sha256, keptAt, marks };
}

function parseJson(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return null;
  }
}

/** By the link's own decoder: what is read here will be sent there. */
function decodeMessage(value: unknown): AnswerMessage | null {
  if (typeof value !== 'object' || value === null) return null;
  const decoded = decodeAgentMessage(JSON.stringify({ ...value, stream: 1 }));
  if (decoded.kind !== 'message') return null;
  const { message } = decoded;
  if (!isOfAnswer(message)) return null;
  const { stream: _, ...unaddressed } = message;
  return unaddressed;
}

type Addressed = AnswerMessage & { readonly stream: number };

function isOfAnswer(message: { readonly t: string }): message is Addressed {
  return ['HEAD', 'PART', 'END', 'RESET'].includes(message.t);
}
