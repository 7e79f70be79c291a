/** The WebSocket subprotocol that both ends must use, and the agents' paths. */
export const SUBPROTOCOL = 'gw-agent.v1';

export const PROTOCOL_VERSION = 1;

export const CONNECT_PATH = '/agent/v1/connect';

export const ENROLL_PATH = '/agent/v1/enroll';

/** Device log-in: the path of the request, and that of polls. */
export const DEVICE_PATH = '/agent/v1/device';

export const DEVICE_TOKEN_PATH = '/agent/v1/device/token';

/** Requests with the agent's own token: its state, and its shares. */
export const SELF_PATH = '/agent/v1/self';

export const SHARES_PATH = '/agent/v1/shares';

/** Why a link ended. 1xxx are WebSocket's own, 4xxx ours. */
export const CLOSE = {
  normal: 1000,
  goingAway: 1001,
  internalError: 1011,
  restart: 1012,
  overload: 1013,
  protocolError: 4000,
  tokenRevoked: 4001,
  version: 4002,
  superseded: 4003,
  helloTimeout: 4004,
  flowControl: 4005,
  heartbeatTimeout: 4006,
  drained: 4007,
  duplicateInstance: 4008,
  disabled: 4009,
} as const;

/**
 * Limits of the link at both ends; those that a coordinator can change are sent in WELCOME.
 */
export const LINK = {
  /** A control message other than HELLO, SERVICES and REPLY. */
  maxControlBytes: 64 * 1024,
  maxDataBytes: 64 * 1024,
  /** A message takes its bytes along up to this size; more of them take turns with others'. */
  maxInlineBytes: 16 * 1024,
  maxModels: 512,
  maxServicesPerMinute: 120,
  windowBytes: 256 * 1024,
  /** A sender stops filling the socket above this many unsent bytes. */
  agentHighWaterBytes: 256 * 1024,
  coordinatorHighWaterBytes: 1024 * 1024,
  /** A link with more unsent bytes than this, control messages included, is cut. */
  maxUnsentBytes: 8 * 1024 * 1024,
  maxStreams: 1024,
  /** Files of one request, and of one answer. */
  maxParts: 32,
  flowControlStrikes: 3,
  helloTimeoutMs: 10_000,
  acceptTimeoutMs: 5_000,
  /** How long a reset stream waits for the agent's confirmation that the work has stopped. */
  stopConfirmMs: 15_000,
  /** Streams of a link that may lack this confirmation at the same time. */
  maxUnconfirmedStops: 16,
  pingMs: 15_000,
  deadMs: 40_000,
  leaseMs: 60_000,
  heartbeatMs: 15_000,
} as const;

/**
 * WebSocket options of both ends. Compression reduces the throughput to a fourth or fifth
 * (measured).
 */
export const SOCKET_OPTIONS = {
  perMessageDeflate: false,
  /** Bytes of a message, text or binary. */
  maxPayload: 256 * 1024,
  maxFragments: 16,
  closeTimeout: 3_000,
};

// The reason in a link's close frame.

/** Bytes of the reason in a close frame; `ws` throws for more. */
const MAX_REASON_BYTES = 123;

/**
 * The reason, cut between characters to the bytes of UTF-8 that fit: the other end may have chosen
 * part of it.
 */
export function closeReason(reason: string): string {
  const { read } = new TextEncoder().encodeInto(reason, new Uint8Array(MAX_REASON_BYTES));
  return reason.slice(0, read);
}
