/**
 * Questions of a coordinator to an agent, beside its work: ASK, and REPLY to it, any number with
 * `last: false` and then one with `last: true`. `topic` names the question; each has its own schema
 * for `args` and for the reply's `body`. `docs/protocol.md` lists the topics.
 */
import * as z from 'zod';

/** In HELLO: the agent answers ASK. Older ones never get one. */
export const ASKS = 'asks';

export const ASK_LIMITS = {
  /** Questions of one link without a last reply. */
  maxOpen: 16,
  /** Questions that an agent takes within a minute; it refuses more. */
  maxPerMinute: 240,
  /** Of `args` as JSON. */
  maxArgsBytes: 4 * 1024,
  /** How long the coordinator waits for the first reply, and between two of them. */
  firstReplyMs: 10_000,
  silenceMs: 60_000,
  /** The longest time that an agent is silent while it works on an answer. */
  replyEveryMs: 15_000,
} as const;

/** Why a question has no answer; other codes belong to a topic. */
export const ASK_REFUSALS = {
  /** The agent does not know the topic, or its arguments are invalid. */
  unknown: 'unknown_question',
  invalid: 'invalid_arguments',
  busy: 'busy',
  failed: 'failed',
} as const;

const name = z.string().min(1).max(256);
const id = z.int().min(1).max(Number.MAX_SAFE_INTEGER);
const json = z.record(z.string().max(256), z.unknown());

export const askMessage = z.object({
  t: z.literal('ASK'),
  /** Not used again on the link. */
  ask: id,
  topic: name,
  args: json,
  /** Public name of the member who asks, as the coordinator says. */
  by: name,
});

export const replyMessage = z.object({
  t: z.literal('REPLY'),
  ask: id,
  last: z.boolean(),
  body: json.optional(),
  /** In place of a body, in the last one. */
  refusal: z.object({ code: name, message: z.string().max(2_000) }).optional(),
});

/** A question without its number. */
export type Question = Omit<z.infer<typeof askMessage>, 't' | 'ask'>;

export type ReplyMessage = z.infer<typeof replyMessage>;

/** An answer, or a part of it. */
export type Reply = Omit<ReplyMessage, 't' | 'ask'>;
