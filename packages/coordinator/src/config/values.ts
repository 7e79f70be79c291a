import type { LogLevel } from '@inference-gateway/shared/program/logger';
import type { AssetsAccess } from '@inference-gateway/shared/media/types';

/** Every setting of a coordinator, with its unit in its name. */
export interface Config {
  readonly dataDir: string;
  readonly host: string;
  /** 0 lets the system choose. */
  readonly port: number;
  /** Public origin, without a trailing slash; never taken from a Host header. */
  readonly publicUrl: string | null;
  readonly logLevel: LogLevel;
  readonly trustProxy: number;
  readonly rateLimitRequests: number;
  readonly rateLimitWindowMs: number;
  readonly maxConcurrent: number;
  readonly maxImages: number;
  readonly maxSpeechCharacters: number;
  readonly maxJsonBytes: number;
  readonly maxBodyMemoryBytes: number;
  /** Waiting for a slot. */
  readonly syncWaitMs: number;
  /** A whole synchronous call. */
  readonly syncDeadlineMs: number;
  /** Waiting for a provider that dropped its link moments ago. */
  readonly reconnectWaitMs: number;
  readonly breakerOpenMs: number;
  /** Until a stream's first byte. */
  readonly firstByteMs: number;
  /** Between two bytes of a stream. */
  readonly idleMs: number;
  /** A stream's response headers go out after this much silence. */
  readonly earlyHeadersMs: number;
  /** Between two comment lines on a silent stream. */
  readonly keepAliveMs: number;
  /** A caller that takes no byte for this long has stalled. */
  readonly stallMs: number;
  /** How long a shutdown waits for work under way. */
  readonly drainMs: number;
  readonly pingMs: number;
  readonly deadMs: number;
  readonly acceptMs: number;
  readonly jobLeaseMs: number;
  /** Whether new providers wait for an administrator. */
  readonly providerApproval: boolean;
  /** False: no job is accepted or run. */
  readonly asyncEnabled: boolean;
  readonly jobMaxAttempts: number;
  /** How long a queued job waits for a model that nobody serves. */
  readonly jobNoProviderMs: number;
  /** One attempt at a text or speech job; the next two are for images, and for video and music. */
  readonly jobDeadlineMs: number;
  readonly jobImageDeadlineMs: number;
  readonly jobFilmDeadlineMs: number;
  /** What a member may have queued: jobs, and bytes of their requests together. */
  readonly maxQueuedJobs: number;
  readonly maxQueuedBytes: number;
  /** Whether webhooks may go to addresses that are not public. */
  readonly webhookPrivate: boolean;
  /** Null: the main port has no `/metrics`. */
  readonly metricsToken: string | null;
  /** Null: the metrics have no port of their own; 0 lets the system choose. */
  readonly metricsPort: number | null;
  readonly assetsAccess: AssetsAccess;
  /** How long a link to an asset is good. */
  readonly assetsLinkMs: number;
  /** Of all members' assets together; a tenth of it is one member's. */
  readonly assetsMaxBytes: number;
  /** From the making of an asset, or the end of a job, to its deletion. */
  readonly retentionMs: number;
  /** Of the row of a single request; its day's sums stay. */
  readonly usageRetentionMs: number;
  /** Of an entry of the audit log. */
  readonly auditRetentionMs: number;
}
