/**
 * Text frames of `gw-node.v1`, the link between two coordinators of one database. The node that
 * dials offers its providers; the other sends calls for their agents, as a coordinator does to an
 * agent: a call's frames and credits are those of `gw-agent.v1`. Unknown tags and fields are
 * ignored, so that two versions work together during an upgrade.
 */
import * as z from 'zod';
import { SERVICE_TYPES } from '../endpoints.js';
import { askMessage, replyMessage } from './asks.js';
import {
  advertisedService,
  agentHost,
  cardReading,
  count,
  decode,
  decodeAgentMessage,
  LARGE_LIMITS,
  MAX_CARDS,
  name,
  openMessage,
  parseJson,
  resetMessage,
  stream,
  tagsOf,
} from './messages.js';
import type { AgentMessage, Decoded } from './messages.js';
import { LINK } from './version.js';

export const NODE_SUBPROTOCOL = 'gw-node.v1';

export const NODE_LINK = {
  path: '/node/v1/link',
  /** Silence is noticed sooner than an agent's: nodes are near each other. */
  pingMs: 2_000,
  deadMs: 6_000,
  dialTimeoutMs: 3_000,
  helloTimeoutMs: 5_000,
  /** Of a message: a provider's lists, which its agent may send with 256 KiB, and a bit more. */
  maxPayload: 512 * 1024,
  maxStreams: 16_384,
  /** Calls of one node that wait for agents of the other; more ask again every half second. */
  maxWants: 4_096,
  /** Questions of owners to agents of the other node without their last reply. */
  maxAsks: 256,
  /** A slot is kept this long for a call that was offered it. */
  offerMs: 2_000,
  highWaterBytes: 1024 * 1024,
  /** Added to the time in which an agent accepts work: the other node receives the body before. */
  acceptMarginMs: 10_000,
  /** Ids in one hint; a node finds out by polling about those that are left out. */
  maxHints: 256,
} as const;

const ids = z.array(name).max(NODE_LINK.maxHints);
const words = z.array(name).max(64);

/** What changes with every call. */
const state = z.object({
  provider_id: name,
  link_id: name,
  accepts: z.enum(['all', 'own', 'none']),
  /** Streams open on the agent's link. */
  busy: count,
  /** Taken slots by service, without those of calls of the node that is told. */
  others: z.array(z.object({ service_id: name, slots: count })).max(64),
  cards: z.array(cardReading).max(MAX_CARDS),
});

const linked = state.extend({
  t: z.literal('LINKED'),
  owner_id: name,
  owner_name: name,
  name,
  created_at: count,
  /** Counts the provider's links on all nodes: the highest is the newest. */
  epoch: count,
  connected_at: count,
  agent_version: name,
  instance_id: name,
  /** The agent answers questions beside its work. Absent from older nodes: it does not. */
  answers: z.boolean().optional(),
  host: agentHost,
  services: z.array(advertisedService).max(64),
});

/** From the node that has dialed. */
const servingMessage = z.discriminatedUnion('t', [
  z.object({ t: z.literal('HELLO'), node: name, version: name }),
  /** A provider is linked here, or serves something else. */
  linked,
  z.object({ t: z.literal('STATE'), states: z.array(state).max(NODE_LINK.maxHints) }),
  z.object({ t: z.literal('UNLINKED'), provider_id: name, link_id: name }),
  /** The agent's link has ended, and the stream with it. */
  z.object({ t: z.literal('LOST'), stream }),
  z.object({ t: z.literal('PROBED'), seq: count, alive: z.boolean() }),
  /** To a RELAY_ASK, as its agent says it. */
  replyMessage,
  /** It is the turn of the call that waits; RELAY, or UNWANT, is the answer. */
  z.object({ t: z.literal('OFFER'), want: count, provider_id: name, service_id: name }),
  /** What others would find out by polling. */
  z.object({
    t: z.literal('HINT'),
    /** Members whose jobs have changed; null: those of all. */
    moved: ids.nullable(),
    /** Jobs were queued, or may run now. */
    queued: z.boolean(),
    ended_jobs: ids,
    /** Of these batches, once for each of their jobs that has ended. */
    ended_in_batches: ids,
    canceled_claims: ids,
  }),
]);

/** To the node that has dialed. */
const callingMessage = z.discriminatedUnion('t', [
  z.object({ t: z.literal('WELCOME'), node: name, version: name }),
  openMessage.omit({ kind: true, job_id: true, claim_id: true }).extend({
    t: z.literal('RELAY'),
    provider_id: name,
    link_id: name,
    /** The caller, who may use the provider according to the node that sends this. */
    member_id: name,
    /** Answers that it asks for: it takes this many slots, if they are free. */
    sequences: z.int().min(1).max(LINK.maxStreams),
    /** The limit of the share that the request was fitted to; null if there is none. */
    max_tokens: count.nullable(),
    /** A question that takes no slot. */
    asks: z.boolean(),
    /** The slot that was offered is for it. */
    want: count.optional(),
  }),
  resetMessage,
  /** A call waits for a slot of any agent that is linked there and may serve it. */
  z.object({
    t: z.literal('WANT'),
    want: count,
    member_id: name,
    scope: z.enum(['own', 'any']),
    service_type: z.enum(SERVICE_TYPES),
    model: name,
    needs: z.object({ features: words, voices: words, inputs: words }),
    /** Providers that have failed it. */
    excluded: ids,
  }),
  /** It waits no more. */
  z.object({ t: z.literal('UNWANT'), want: count }),
  z.object({ t: z.literal('PROBE'), seq: count, provider_id: name, link_id: name }),
  /** The owner of a provider asks its agent. */
  askMessage.extend({
    t: z.literal('RELAY_ASK'),
    provider_id: name,
    link_id: name,
    member_id: name,
  }),
  /** An administrator, or a newer link elsewhere, ends the agent's link. */
  z.object({
    t: z.literal('END_LINK'),
    provider_id: name,
    /** Null: its link, whichever it is. */
    link_id: name.nullable(),
    why: z.enum(['superseded', 'kicked', 'disabled', 'revoked']),
  }),
]);

type ServingMessage = z.infer<typeof servingMessage>;

/** Messages of a call are those of an agent. */
export type FromServing = ServingMessage | Extract<AgentMessage, { stream: number }>;

export type FromCalling = z.infer<typeof callingMessage>;

export type NodeMessage<T extends (FromServing | FromCalling)['t']> = Extract<
  FromServing | FromCalling,
  { t: T }
>;

export function decodeFromServing(text: string): Decoded<FromServing> {
  if (FROM_SERVING.tags.has(firstTag(text))) return decode(text, FROM_SERVING);
  const call = decodeAgentMessage(text);
  if (call.kind !== 'message') return call;
  const { message } = call;
  return 'stream' in message ? { kind: 'message', message } : { kind: 'unknown', tag: message.t };
}

/** Tag and stream of a message that cannot be read otherwise; null if it is about no stream. */
export function streamIn(text: string): { readonly tag: string; readonly stream: number } | null {
  const found = z.object({ stream }).safeParse(parseJson(text));
  return found.success ? { tag: firstTag(text), stream: found.data.stream } : null;
}

/** Both ends write the tag first: each message is parsed once. */
function firstTag(text: string): string {
  return /^\{"t":"(\w+)"/.exec(text)?.[1] ?? '';
}

export function decodeFromCalling(text: string): Decoded<FromCalling> {
  return decode(text, FROM_CALLING);
}

const FROM_SERVING = {
  schema: servingMessage,
  tags: tagsOf(servingMessage),
  large: new Set(['LINKED', 'STATE', 'HINT', 'REPLY']),
  // The longest list of an agent, and what its coordinator adds.
  limits: { ...LARGE_LIMITS, maxValues: 2 * LARGE_LIMITS.maxValues, maxNumbers: 40_000 },
};

const FROM_CALLING = {
  schema: callingMessage,
  tags: tagsOf(callingMessage),
  large: new Set<string>(),
};
