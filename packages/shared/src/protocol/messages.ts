/**
 * Text frames of `gw-agent.v1`: JSON with a tag `t`. `docs/protocol.md` describes when each is
 * sent. Unknown tags and fields are ignored, so that an older end can talk to a newer one.
 */
import * as z from 'zod';
import { jsonFault } from '../json/scan.js';
import type { JsonLimits } from '../json/scan.js';
import { ENDPOINT_KEYS, SERVICE_TYPES } from '../endpoints.js';
import { askMessage, replyMessage } from './asks.js';
import { LINK } from './version.js';

/** The names of a model's reasoning text; the first is the default. */
export const REASONING_FIELDS = ['reasoning_content', 'reasoning'] as const;

export type ReasoningField = (typeof REASONING_FIELDS)[number];

/** Of HTTP. */
const status = z.int().min(100).max(599);

export const name = z.string().min(1).max(256);

const shortText = z.string().max(2_000);

export const count = z.int().min(0).max(Number.MAX_SAFE_INTEGER);

export const stream = z.int().min(1).max(0xffffffff);

const names = z.array(name).max(64);

/** Range of a repeating timer: much less, or more than 24 days, would fire continuously. */
const seconds = z.number().min(0.01).max(86_400);

const model = z.object({
  /** The id that callers use. */
  id: name,
  /** Its name on the local server. */
  served_name: name,
  context_length: count.nullable(),
  input_modalities: names,
  /**
   * True: it accepts no other kinds of input. Absent: its server does not report them, and the list
   * may be incomplete.
   */
  inputs_known: z.boolean().optional(),
  output_modalities: names,
  supported_features: names,
  voices: z.array(name).max(1_000).optional(),
  /**
   * The formats that this provider is known to handle: of uploads for an `stt` model, of answers of
   * a `tts` model. Absent if it handles any.
   */
  formats: names.optional(),
  /** Null if the local server does not report it. */
  loaded: z.boolean().nullable(),
});

/** A service as its agent advertises it. */
export const advertisedService = z.object({
  service_id: name,
  service_type: z.enum(SERVICE_TYPES),
  slots: z.int().min(1).max(LINK.maxStreams),
  /**
   * Services of one group share a card: together they run at most the largest `slots` among them.
   */
  slot_group: name.optional(),
  /** False: serves only its owner, even if it is shared. Absent: also others, if it is shared. */
  foreign: z.boolean().optional(),
  models: z.array(model).max(LINK.maxModels),
});

export const agentHost = z.object({
  os: name,
  arch: name,
  gpus: z
    .array(
      z.object({
        name: name.nullable(),
        vendor: name.nullable(),
        /** MiB. */
        vram_mib: count.nullable(),
        driver: name.nullable(),
      }),
    )
    .max(32),
});

const usage = z.object({
  prompt_tokens: count,
  completion_tokens: count,
  total_tokens: count,
  /** The model server did not count them. */
  estimated: z.literal(true).optional(),
});

/** What an answer took, in the last message of its stream. */
const costFields = {
  usage: usage.optional(),
  /**
   * Joules that the card took for the run, its share if others ran beside it. Absent if unknown.
   * Any number, because no link ends for it: what cannot be is dropped by who counts it.
   */
  energy_j: z.number().optional(),
};

const claim = z.object({ claim_id: name, phase: z.enum(['loading', 'running', 'spooled']) });

const services = z.array(advertisedService).max(64);

export const RESET_CODES = [
  'CANCELED',
  'DEADLINE',
  'CALLER_GONE',
  'CALLER_STALLED',
  'LOCAL_UNREACHABLE',
  'LOCAL_TIMEOUT',
  'LOCAL_ERROR',
  'YIELDED',
  'FLOW_CONTROL',
  'INTERNAL',
] as const;

export const REJECT_REASONS = [
  'busy',
  'draining',
  'paused',
  'no_model',
  'type_mismatch',
  'bad_request',
] as const;

/** A file of a request: its bytes follow the body, in the order of the list. */
const upload = z.object({ name, content_type: name, bytes: count });

export const resetMessage = z.object({
  t: z.literal('RESET'),
  stream,
  code: z.enum(RESET_CODES),
  message: shortText.optional(),
  /** From an agent: for the sent part of an answer. Absent: nothing was sent. */
  ...costFields,
});

const drain = z.object({ t: z.literal('DRAIN'), deadline_ms: count, reason: shortText });

/** Cards of one machine. */
export const MAX_CARDS = 16;

export const cardReading = z.object({
  use_percent: z.number().min(0).max(100).nullable(),
  /** Used by all programs. 16 TiB is more than any card has. */
  memory_used_mib: z.number().min(0).max(16_777_216).nullable(),
  temperature_c: z.number().min(-100).max(200).nullable(),
  power_watts: z.number().min(0).max(10_000).nullable(),
});

/** Services of the types `embedding` and `rerank`: older ends refuse a list that has them. */
export const VECTOR_SERVICES = 'vector-services';

/** This end reads messages together with their bytes, in one frame of type MESSAGE. */
export const MESSAGE_FRAMES = 'message-frames';

/** In WELCOME. */
export const LINK_FEATURES = [VECTOR_SERVICES, MESSAGE_FRAMES] as const;

/**
 * In HELLO: the agent knows the endpoint that counts tokens; older ones end the link if an OPEN
 * names it. Among a model's `supported_features`: its local server counts.
 */
export const TOKEN_COUNTING = 'token-counting';

/** In HELLO. */
export const AGENT_FEATURES = [TOKEN_COUNTING, MESSAGE_FRAMES] as const;

const agentMessage = z.discriminatedUnion('t', [
  z.object({
    t: z.literal('HELLO'),
    proto: z.literal(1),
    agent_version: name,
    features: names,
    /** New for every process: distinguishes a restart from a second copy. */
    instance_id: name,
    host: agentHost,
    services_rev: count,
    services,
    /** Claims of earlier links whose result is still computed, or is stored here. */
    resume: z
      .array(claim.extend({ job_id: name, bytes: count, sha256: z.string().length(64).optional() }))
      .max(LINK.maxStreams),
  }),
  z.object({ t: z.literal('SERVICES'), rev: count, services, host: agentHost.optional() }),
  z.object({
    t: z.literal('HEARTBEAT'),
    seq: count,
    slots: z.array(z.object({ service_id: name, busy: count, free: count })).max(64),
    claims: z.array(claim).max(LINK.maxStreams),
    accepts: z.enum(['all', 'own', 'none']),
    /** In the order of the host's cards; absent if the machine does not report it. */
    gpus: z.array(cardReading).max(MAX_CARDS).optional(),
  }),
  z.object({ t: z.literal('ACCEPT'), stream }),
  z.object({ t: z.literal('REJECT'), stream, reason: z.enum(REJECT_REASONS) }),
  z.object({ t: z.literal('PROGRESS'), stream, phase: name, pct: z.number().optional() }),
  z.object({
    t: z.literal('HEAD'),
    stream,
    status,
    content_type: name,
    headers: z.record(name, shortText).optional(),
  }),
  z.object({
    t: z.literal('PART'),
    stream,
    index: z.int().min(0).max(LINK.maxParts),
    content_type: name,
    revised_prompt: z.string().max(16_000).optional(),
  }),
  z.object({
    t: z.literal('END'),
    stream,
    ok: z.boolean(),
    ...costFields,
  }),
  /** HEAD, the bytes of its frame, and END: a whole short answer. */
  z.object({
    t: z.literal('ANSWER'),
    stream,
    status,
    content_type: name,
    ...costFields,
  }),
  resetMessage,
  replyMessage,
  drain,
]);

/** One piece of work, before its bytes. */
export const openMessage = z.object({
  t: z.literal('OPEN'),
  stream,
  kind: z.enum(['sync', 'job']),
  endpoint: z.enum(ENDPOINT_KEYS),
  service_id: name,
  model: name,
  caller: z.object({ name, own: z.boolean() }),
  body: z.object({ bytes: count }).optional(),
  /**
   * Slots reserved for it: this many of its answers may be computed in parallel. Absent: 1.
   */
  parallel: z.int().min(1).max(LINK.maxStreams).optional(),
  parts: z.array(upload).max(LINK.maxParts).optional(),
  reasoning_field: z.enum(REASONING_FIELDS).optional(),
  deadline_ms: count,
  job_id: name.optional(),
  claim_id: name.optional(),
  attempt: count,
  request_id: name,
});

const coordinatorMessage = z.discriminatedUnion('t', [
  z.object({
    t: z.literal('WELCOME'),
    session_id: name,
    provider_id: name,
    /** The provider's public name, chosen by its owner. */
    name,
    ping_s: seconds,
    dead_s: seconds,
    heartbeat_s: seconds,
    lease_s: seconds,
    limits: z.object({ window_bytes: count, max_streams: count }),
    server_time: count,
    /** What this coordinator knows beyond the first version: `LINK_FEATURES`. */
    features: names.optional(),
    /** One for each claim of HELLO; the agent drops claims that are missing. */
    resume: z
      .array(
        z.object({
          claim_id: name,
          /**
           * `continue`: it continues to run; `upload`: its result is complete. Both are sent on
           * `stream`, from the first byte on.
           */
          action: z.enum(['continue', 'upload', 'discard']),
          stream: stream.optional(),
        }),
      )
      .max(LINK.maxStreams),
  }),
  z.object({ t: z.literal('SERVICES_OK'), rev: count }),
  z.object({
    t: z.literal('HEARTBEAT_OK'),
    seq: count,
    /** Listed claims whose job was canceled, or claimed by another provider. */
    lost_claims: z.array(name).max(LINK.maxStreams),
  }),
  openMessage,
  resetMessage,
  askMessage,
  z.object({
    t: z.literal('RESULT_ACK'),
    claim_id: name,
    verdict: z.enum(['stored', 'duplicate', 'stale']),
  }),
  drain,
  z.object({ t: z.literal('GOAWAY'), retry_after_ms: count, reason: shortText }),
]);

export type AgentMessage = z.infer<typeof agentMessage>;

export type CoordinatorMessage = z.infer<typeof coordinatorMessage>;

export type Message<T extends (AgentMessage | CoordinatorMessage)['t']> = Extract<
  AgentMessage | CoordinatorMessage,
  { t: T }
>;

export type AdvertisedModel = z.infer<typeof model>;

export type AdvertisedService = z.infer<typeof advertisedService>;

export type AgentHost = z.infer<typeof agentHost>;

export type TokenUsage = z.infer<typeof usage>;

export type AnswerCost = Pick<Message<'END'>, 'usage' | 'energy_j'>;

export const NO_COST: AnswerCost = {};

/** Of a message, or of a part that knows less: without what is unknown. */
export function costOf(told: {
  readonly usage?: TokenUsage | null | undefined;
  readonly energy_j?: number | null | undefined;
}): AnswerCost {
  const { usage = null, energy_j = null } = told;
  return { ...(usage !== null && { usage }), ...(energy_j !== null && { energy_j }) };
}

export type ResetCode = (typeof RESET_CODES)[number];

export type RejectReason = (typeof REJECT_REASONS)[number];

/** A parsed text frame: only `message` is trusted. */
export type Decoded<M> =
  | { readonly kind: 'message'; readonly message: M }
  | { readonly kind: 'unknown'; readonly tag: string }
  | { readonly kind: 'malformed'; readonly reason: string };

/** Decodes a message of an agent. */
export function decodeAgentMessage(text: string): Decoded<AgentMessage> {
  return decode(text, AGENT_MESSAGES);
}

/** Decodes a message of a coordinator. */
export function decodeCoordinatorMessage(text: string): Decoded<CoordinatorMessage> {
  return decode(text, COORDINATOR_MESSAGES);
}

/**
 * Parses stored services, for instance a provider's last snapshot; null if they are invalid.
 */
export function decodeServices(value: unknown): AdvertisedService[] | null {
  const parsed = services.safeParse(value);
  return parsed.success ? parsed.data : null;
}

/** They contain whole lists, and may be as long as a message. */
const LARGE_TAGS: ReadonlySet<string> = new Set(['HELLO', 'SERVICES', 'REPLY']);

/** Of a union of messages. */
export function tagsOf(union: { options: readonly { shape: { t: z.ZodLiteral<string> } }[] }) {
  return new Set(union.options.map((option) => option.shape.t.value));
}

const AGENT_MESSAGES = { schema: agentMessage, tags: tagsOf(agentMessage), large: LARGE_TAGS };

const COORDINATOR_MESSAGES = {
  schema: coordinatorMessage,
  tags: tagsOf(coordinatorMessage),
  large: LARGE_TAGS,
};

/** Limits of long messages: lists of models, without deep nesting. */
export const LARGE_LIMITS: JsonLimits = {
  maxObjectKeys: 1_000,
  maxValues: 60_000,
  maxNumbers: 20_000,
  maxDepth: 32,
};

interface Kinds<M> {
  readonly schema: z.ZodType<M>;
  readonly tags: ReadonlySet<string>;
  /** Tags of messages that may be longer than a control message. */
  readonly large: ReadonlySet<string>;
  /** Of long messages; by default those of agents. */
  readonly limits?: JsonLimits;
}

export function decode<M>(text: string, kinds: Kinds<M>): Decoded<M> {
  const { schema, tags, large, limits = LARGE_LIMITS } = kinds;
  const isLarge = text.length > LINK.maxControlBytes;
  const fault = isLarge ? jsonFault(Buffer.from(text), limits) : null;
  if (fault !== null) return { kind: 'malformed', reason: `of a text frame, ${fault}` };
  const value = parseJson(text);
  const tag = tagOf(value);
  if (tag === null)
    return { kind: 'malformed', reason: 'a text frame is a JSON object with a tag "t"' };
  if (!tags.has(tag)) return { kind: 'unknown', tag };
  if (isLarge && !large.has(tag)) {
    return { kind: 'malformed', reason: `${tag} is longer than ${LINK.maxControlBytes} bytes` };
  }
  const parsed = schema.safeParse(value);
  if (parsed.success) return { kind: 'message', message: parsed.data };
  return { kind: 'malformed', reason: `${tag}: ${z.prettifyError(parsed.error)}` };
}

/** Null if it is none. */
export function parseJson(text: string): unknown {
  try {
    return JSON.parse(text);
  } catch {
    return null;
  }
}

function tagOf(value: unknown): string | null {
  if (typeof value !== 'object' || value === null || !('t' in value)) return null;
  return typeof value.t === 'string' ? value.t : null;
}

// Telemetry of a graphics card in HEARTBEAT, for the card as a whole: which programs use it is not
// sent.

/** Null if it is unknown, never an estimate. */
export type CardReading = z.infer<typeof cardReading>;

/** An impossible value is null: a driver's error must not end a link. */
export function believableReading(reading: CardReading): CardReading {
  const { shape } = cardReading;
  return {
    use_percent: shape.use_percent.catch(null).parse(reading.use_percent),
    memory_used_mib: shape.memory_used_mib.catch(null).parse(reading.memory_used_mib),
    temperature_c: shape.temperature_c.catch(null).parse(reading.temperature_c),
    power_watts: shape.power_watts.catch(null).parse(reading.power_watts),
  };
}
