/**
 * Every setting of a coordinator: name, kind, permitted values, default. In the environment it is
 * `GATEWAY_<NAME>`, in the configuration file the name in lower case without the prefix. A test
 * compares this table with the one in `docs/operations/settings.md`.
 */
import { nearest } from '@inference-gateway/shared/nearest';
import { LOG_FORMATS, LOG_LEVELS } from '@inference-gateway/shared/program/logger';
import { ASSETS_ACCESS } from '@inference-gateway/shared/media/types';
import { faultOfFilesUrl, FILES_URLS, hideCredentials } from '../assets/files-url.js';
import { parseDatabaseUrl } from '../store/database-url.js';
import {
  mebibytes,
  parseCredential,
  parseDomains,
  parseIssuer,
  parseNodeUrl,
  parseOrigin,
  scaled,
  seconds,
  text,
  whole,
  yesOrNo,
} from './setting-kinds.js';
import type { Setting } from './setting-kinds.js';

const DAY_S = 86_400;

export const NODE_NAME = /^[a-z0-9][a-z0-9.-]{0,62}$/i;

/** About 23 days: a timer of more than 24 days would fire at once. */
const MAX_DEADLINE_S = 2_000_000;

export const SETTINGS = {
  dataDir: text({ name: 'DATA', default: './data', doc: 'Folder of the database and the lock.' }),
  databaseUrl: {
    name: 'DATABASE_URL',
    default: null,
    allowed: 'postgres://USER:PASSWORD@HOST/DATABASE',
    doc: 'Database on PostgreSQL. If unset, SQLite in the data folder.',
    secret: true,
    parse: parseDatabaseUrl,
  },
  databaseUrlFile: text({
    name: 'DATABASE_URL_FILE',
    default: null,
    doc: 'File that holds that URL, instead of DATABASE_URL.',
  }),
  nodeName: {
    name: 'NODE_NAME',
    default: null,
    allowed: '1 to 63 letters, digits, dots and hyphens',
    doc: "Name among the coordinators of a database on PostgreSQL. If unset, the machine's.",
    parse: (written: string) => (NODE_NAME.test(written) ? written.toLowerCase() : null),
  },
  nodeUrl: {
    name: 'NODE_URL',
    default: null,
    allowed: 'wss://HOST:PORT',
    doc: 'Where other coordinators of the database reach this one. If unset, it is the only one.',
    parse: parseNodeUrl,
  },
  nodeListen: {
    name: 'NODE_LISTEN',
    default: null,
    allowed: 'HOST:PORT, where the HOST is an address of this machine',
    doc: 'Where it listens for them. If unset, on all addresses at the port of NODE_URL.',
    parse: (written: string) => (/^\S+:\d{1,5}$/.test(written) ? written : null),
  },
  filesUrl: {
    name: 'FILES_URL',
    default: null,
    allowed: FILES_URLS,
    doc: 'Generated files, in a folder or object storage of all coordinators. If unset, in DATA.',
    parse: (written: string) => (faultOfFilesUrl(written) === null ? written : null),
    explain: (written: string) =>
      `'${hideCredentials(written)}': ${faultOfFilesUrl(written) ?? 'it can be used.'}`,
  },
  filesAccessKey: {
    name: 'FILES_ACCESS_KEY',
    default: null,
    allowed: 'a text without spaces',
    doc: 'Access key id of the object storage.',
    secret: true,
    parse: parseCredential,
  },
  filesAccessKeyFile: text({
    name: 'FILES_ACCESS_KEY_FILE',
    default: null,
    doc: 'File that holds it, instead of FILES_ACCESS_KEY.',
  }),
  filesSecretKey: {
    name: 'FILES_SECRET_KEY',
    default: null,
    allowed: 'a text without spaces',
    doc: 'Secret access key of the object storage.',
    secret: true,
    parse: parseCredential,
  },
  filesSecretKeyFile: text({
    name: 'FILES_SECRET_KEY_FILE',
    default: null,
    doc: 'File that holds it, instead of FILES_SECRET_KEY.',
  }),
  filesRedirectMs: seconds({
    name: 'FILES_REDIRECT_S',
    default: '0',
    range: [0, 3_600],
    doc: 'Answer fetches of files with a link to the object storage, good for this long; 0: never.',
  }),
  host: text({ name: 'HOST', default: '127.0.0.1', doc: 'Address to listen on.' }),
  port: whole({
    name: 'PORT',
    default: '7070',
    range: [0, 65_535],
    doc: 'Port to listen on; 0 takes a free one.',
  }),
  publicUrl: {
    name: 'PUBLIC_URL',
    default: null,
    allowed: 'an origin such as https://gateway.example.org, without a path',
    doc: 'Origin that callers and agents use. If unset, the address that it listens on.',
    parse: parseOrigin,
  },
  oidcIssuer: {
    name: 'OIDC_ISSUER',
    default: null,
    allowed: 'an https URL, or http to this machine',
    doc: 'OpenID provider for log-ins, as its discovery document names it. If unset, none.',
    parse: parseIssuer,
  },
  oidcClientId: text({
    name: 'OIDC_CLIENT_ID',
    default: null,
    doc: 'Client id of this gateway at the provider.',
  }),
  oidcClientSecret: {
    name: 'OIDC_CLIENT_SECRET',
    default: null,
    allowed: 'a text without spaces',
    doc: 'Its client secret. If unset, the gateway is a public client, with PKCE alone.',
    secret: true,
    parse: parseCredential,
  },
  oidcClientSecretFile: text({
    name: 'OIDC_CLIENT_SECRET_FILE',
    default: null,
    doc: 'File that holds it, instead of OIDC_CLIENT_SECRET.',
  }),
  oidcName: {
    name: 'OIDC_NAME',
    default: 'single sign-on',
    allowed: '1 to 40 characters',
    doc: 'What the button calls the provider: "Log in with …".',
    parse: (written: string) => (/^\P{C}{1,40}$/u.test(written) ? written : null),
  },
  oidcScopes: {
    name: 'OIDC_SCOPES',
    default: 'openid email profile',
    allowed: 'names separated by spaces, openid among them',
    doc: 'Scopes that are asked of the provider.',
    parse: (written: string) => (written.split(' ').includes('openid') ? written : null),
  },
  oidcDomains: {
    name: 'OIDC_DOMAINS',
    default: null,
    allowed: 'domains separated by commas',
    doc: 'Verified e-mail addresses there become members without an invite. If unset, nobody does.',
    parse: parseDomains,
  },
  oidcAdminClaim: text({
    name: 'OIDC_ADMIN_CLAIM',
    default: null,
    doc: 'Claim that decides at each log-in who is an admin. If unset, roles are set here.',
  }),
  oidcAdminValue: text({
    name: 'OIDC_ADMIN_VALUE',
    default: null,
    doc: 'Its value, or one of its values, for admins.',
  }),
  logLevel: {
    name: 'LOG_LEVEL',
    default: 'info',
    allowed: LOG_LEVELS.join(', '),
    doc: 'Least severity that is logged.',
    parse: (written: string) => LOG_LEVELS.find((level) => level === written) ?? null,
  },
  logFormat: {
    name: 'LOG_FORMAT',
    default: null,
    allowed: LOG_FORMATS.join(', '),
    doc: 'JSON or readable lines. If unset: readable lines on a terminal, JSON elsewhere.',
    parse: (written: string) => LOG_FORMATS.find((format) => format === written) ?? null,
  },
  trustProxy: whole({
    name: 'TRUST_PROXY',
    default: '0',
    range: [0, 10],
    doc: 'Number of proxies in front that append to X-Forwarded-For; 0: that header is ignored.',
  }),
  rateLimitRequests: whole({
    name: 'RATE_LIMIT_REQUESTS',
    default: '600',
    range: [1, 1_000_000],
    doc: 'Requests that a member may send within the window.',
  }),
  rateLimitWindowMs: seconds({
    name: 'RATE_LIMIT_WINDOW_S',
    default: '60',
    range: [0.1, DAY_S],
    doc: 'Length of that window.',
  }),
  maxConcurrent: whole({
    name: 'MAX_CONCURRENT',
    default: '256',
    range: [1, 100_000],
    doc: "A member's synchronous calls that run at once; further ones wait for one of them to end.",
  }),
  maxImages: whole({
    name: 'MAX_IMAGES',
    default: '4',
    range: [1, 32],
    doc: 'Most images of one request; a larger n is reduced to it.',
  }),
  maxSpeechCharacters: whole({
    name: 'MAX_SPEECH_CHARACTERS',
    default: '5000',
    range: [1, 1_000_000],
    doc: 'Longest text to speak, in characters.',
  }),
  maxJsonBytes: mebibytes({
    name: 'MAX_JSON_MB',
    default: '32',
    range: [0.001, 256],
    doc: 'Largest JSON body.',
  }),
  maxBodyMemoryBytes: mebibytes({
    name: 'MAX_BODY_MEMORY_MB',
    default: '512',
    range: [0.001, 1_048_576],
    doc: 'JSON bodies and answers in memory at once, at most half of it for one member; else 503.',
  }),
  syncWaitMs: seconds({
    name: 'SYNC_WAIT_S',
    default: '60',
    range: [0, DAY_S],
    doc: 'How long a synchronous call waits for a free slot.',
  }),
  syncDeadlineMs: seconds({
    name: 'SYNC_DEADLINE_S',
    default: '280',
    range: [0.05, DAY_S],
    doc: "How long a whole synchronous call may take. Node's own fetch gives up after 300 s.",
  }),
  reconnectWaitMs: seconds({
    name: 'RECONNECT_WAIT_S',
    default: '5',
    range: [0, 600],
    doc: 'How long a call waits for a provider that dropped its link moments ago.',
  }),
  breakerOpenMs: seconds({
    name: 'BREAKER_OPEN_S',
    default: '30',
    range: [0, 3_600],
    doc: 'How long a provider that fails repeatedly gets no calls; 0: failures do not count.',
  }),
  firstByteMs: seconds({
    name: 'FIRST_BYTE_S',
    default: '120',
    range: [0.05, DAY_S],
    doc: "How long a stream's first byte may take; while its model loads, the deadline counts.",
  }),
  idleMs: seconds({
    name: 'IDLE_S',
    default: '60',
    range: [0.05, DAY_S],
    doc: 'Longest silence of a provider within a stream.',
  }),
  earlyHeadersMs: seconds({
    name: 'EARLY_HEADERS_S',
    default: '15',
    range: [0.01, DAY_S],
    doc: "After this much silence a stream's response headers are sent, before its first byte.",
  }),
  keepAliveMs: seconds({
    name: 'KEEP_ALIVE_S',
    default: '10',
    range: [0.01, DAY_S],
    doc: 'Silence between two comment lines on a stream.',
  }),
  stallMs: seconds({
    name: 'STALL_S',
    default: '60',
    range: [0.05, DAY_S],
    doc: 'A stream ends if its caller reads no byte for this long.',
  }),
  drainMs: seconds({
    name: 'DRAIN_S',
    default: '30',
    range: [0, DAY_S],
    doc: 'How long a shutdown waits for work under way.',
  }),
  pingMs: seconds({
    name: 'PING_S',
    default: '15',
    range: [0.01, 600],
    doc: 'Either end of a link sends a ping after it has sent nothing for this long.',
  }),
  deadMs: seconds({
    name: 'DEAD_S',
    default: '40',
    range: [0.02, DAY_S],
    doc: 'A link that is silent for this long counts as dead; must be more than PING_S.',
  }),
  acceptMs: seconds({
    name: 'ACCEPT_S',
    default: '5',
    range: [0.01, 600],
    doc: 'How long an agent may take to accept work before another is tried.',
  }),
  jobLeaseMs: seconds({
    name: 'JOB_LEASE_S',
    default: '60',
    range: [0.1, DAY_S],
    doc: 'How long an agent keeps a claim without a heartbeat; it sends one each quarter of that.',
  }),
  providerApproval: yesOrNo({
    name: 'PROVIDER_APPROVAL',
    default: 'false',
    doc: 'Whether new providers get no work until "provider approve".',
  }),
  asyncEnabled: yesOrNo({
    name: 'ASYNC_ENABLED',
    default: 'true',
    doc: 'Whether jobs and batches are accepted and run.',
  }),
  jobMaxAttempts: whole({
    name: 'JOB_MAX_ATTEMPTS',
    default: '3',
    range: [1, 100],
    doc: 'How often a job is tried before it fails.',
  }),
  jobNoProviderMs: seconds({
    name: 'JOB_NO_PROVIDER_S',
    default: '3600',
    range: [0, 31_536_000],
    doc: 'How long a queued job waits for a model that nobody serves.',
  }),
  jobDeadlineMs: seconds({
    name: 'JOB_DEADLINE_S',
    default: '900',
    range: [0.05, MAX_DEADLINE_S],
    doc: 'How long one attempt at a text or speech job may take.',
  }),
  jobImageDeadlineMs: seconds({
    name: 'JOB_IMAGE_DEADLINE_S',
    default: '1800',
    range: [0.05, MAX_DEADLINE_S],
    doc: 'The same for images.',
  }),
  jobFilmDeadlineMs: seconds({
    name: 'JOB_FILM_DEADLINE_S',
    default: '7200',
    range: [0.05, MAX_DEADLINE_S],
    doc: 'The same for video and music.',
  }),
  maxQueuedJobs: whole({
    name: 'MAX_QUEUED',
    default: '10000',
    range: [1, 10_000_000],
    doc: 'Jobs that a member may have queued; else 429 queue_full.',
  }),
  maxQueuedBytes: mebibytes({
    name: 'MAX_QUEUED_MB',
    default: '1024',
    range: [0.001, 1_048_576],
    doc: 'Size of the requests of these jobs together.',
  }),
  webhookPrivate: yesOrNo({
    name: 'WEBHOOK_PRIVATE',
    default: 'false',
    doc: 'Whether webhooks may go to private, link-local and loopback addresses.',
  }),
  metricsToken: {
    name: 'METRICS_TOKEN',
    default: null,
    allowed: '16 to 512 printable characters, without spaces',
    doc: 'Bearer token that GET /metrics asks for. If unset, GET /metrics answers 404.',
    secret: true,
    parse: (written: string) => (/^[\x21-\x7e]{16,512}$/.test(written) ? written : null),
  },
  metricsPort: whole({
    name: 'METRICS_PORT',
    default: null,
    range: [0, 65_535],
    doc: 'Another port of the same host, for GET /metrics only; asks for no token if none is set.',
  }),
  assetsAccess: {
    name: 'ASSETS_ACCESS',
    default: 'private',
    allowed: ASSETS_ACCESS.join(', '),
    doc: 'Who may fetch a generated file: its owner (private), or everybody with its link (link).',
    parse: (written: string) => ASSETS_ACCESS.find((access) => access === written) ?? null,
  },
  assetsLinkMs: scaled(
    {
      name: 'ASSETS_LINK_MINUTES',
      default: '60',
      range: [0.01, 43_200],
      doc: 'How long a link to a generated file works.',
    },
    { unit: 'minutes', factor: 60_000 },
  ),
  assetsMaxBytes: scaled(
    {
      name: 'ASSETS_MAX_GB',
      default: '20',
      range: [0.000_001, 1_048_576],
      doc: 'Space for generated files and files of batches; one member may use a tenth.',
    },
    { unit: 'GiB', factor: 1024 ** 3 },
  ),
  retentionMs: scaled(
    {
      name: 'RETENTION_DAYS',
      default: '30',
      range: [0.001, 36_500],
      doc: 'How long generated files, finished jobs and their results are kept.',
    },
    { unit: 'days', factor: DAY_S * 1_000 },
  ),
  downloadsDir: text({
    name: 'DOWNLOADS_DIR',
    default: null,
    doc: 'Folder with the agents to hand out, as "npm run package" fills it. If unset, its own.',
  }),
  usageRetentionMs: scaled(
    {
      name: 'USAGE_RETENTION_DAYS',
      default: '90',
      range: [1, 36_500],
      doc: 'How long single requests are listed; daily sums are kept for good.',
    },
    { unit: 'days', factor: DAY_S * 1_000 },
  ),
  auditRetentionMs: scaled(
    {
      name: 'AUDIT_RETENTION_DAYS',
      default: '1095',
      range: [1, 36_500],
      doc: 'How long entries of the audit log are kept.',
    },
    { unit: 'days', factor: DAY_S * 1_000 },
  ),
} as const satisfies Readonly<Record<string, Setting>>;

/** The settings' values, units in their names; null if one is unset and has no default. */
export type Config = {
  readonly [Field in keyof typeof SETTINGS]: ValueOf<(typeof SETTINGS)[Field]>;
};

type ValueOf<One> =
  One extends Setting<infer Value, infer Default>
    ? null extends Default
      ? Value | null
      : Value
    : never;

/** ` Did you mean X?`, or nothing. */
export function didYouMean(written: string, known: readonly string[]): string {
  const meant = nearest(written, known)[0];
  return meant === undefined ? '' : ` Did you mean ${meant}?`;
}
