/**
 * The coordinator's configuration: flags > environment > file > default. The only reader of the
 * environment; all errors are reported together.
 */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { readFileSync } from 'node:fs';
import { hostname } from 'node:os';
import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import type { OidcSettings } from '../accounts/oidc.js';
import { parseFilesUrl } from '../assets/files-url.js';
import type { FilesPlace } from '../assets/files-url.js';
import { passwordFault, parseDatabaseUrl } from '../store/database-url.js';
import type { StorePlace } from '../store/open.js';
import { contradictions } from './contradictions.js';
import { parseCredential } from './setting-kinds.js';
import type { Setting } from './setting-kinds.js';
import { SETTINGS, didYouMean } from './settings.js';
import type { Config } from './settings.js';

export type { Config };

/** Flags of the command line, as text. */
export interface ConfigFlags {
  readonly data?: string;
  readonly database?: string;
  readonly files?: string;
  readonly host?: string;
  readonly port?: string;
  readonly publicUrl?: string;
  readonly metricsPort?: string;
  readonly logLevel?: string;
  readonly logFormat?: string;
  readonly config?: string;
}

export type Environment = Readonly<Record<string, string | undefined>>;

const PREFIX = 'GATEWAY_';

const AGENT_PREFIX = 'GATEWAY_AGENT_';

/** Names the file itself, so that it can only be set in the environment. */
const CONFIG_VARIABLE = 'GATEWAY_CONFIG';

/**
 * Throws a `CommandError` that lists every problem: exit 2, or 3 if the named file is missing.
 */
export function loadConfig(flags: ConfigFlags, environment: Environment = process.env): Config {
  const sources = gather(flags, environment);
  const problems = [...unknownVariables(environment), ...sources.problems];
  const fields = Object.keys(SETTINGS) as (keyof Config)[];
  const read = fields.map((field) => [field, readSetting(field, sources, problems)] as const);
  const config = Object.fromEntries(read) as unknown as Config;
  if (problems.length === 0) problems.push(...contradictions(config));
  if (problems.length > 0) throw configError(problems);
  const oidcClientSecret = credentialOf(config, 'oidcClientSecret');
  return { ...config, ...placeOf(config, flags), ...filesPlaceOf(config), oidcClientSecret };
}

/** The data folder, for a command that only needs the folder: other settings may be invalid. */
export function locateData(flags: ConfigFlags, environment: Environment = process.env): string {
  return readSome(['dataDir'], flags, environment).dataDir;
}

/** Where the store is, for a command that only opens it: other settings may be invalid. */
export function locateStore(
  flags: ConfigFlags,
  environment: Environment = process.env,
): StorePlace {
  const read = readSome(['dataDir', 'databaseUrl', 'databaseUrlFile'], flags, environment);
  return placeOf(read, flags);
}

/** Throws a `CommandError` if the URL of the database is in two places, or not usable. */
function placeOf(
  { dataDir, databaseUrl, databaseUrlFile }: PlaceSettings,
  { database }: ConfigFlags,
): StorePlace {
  const fault = database === undefined ? null : passwordFault(database, '--database');
  if (fault !== null) throw configError([fault]);
  if (databaseUrlFile === null) return { dataDir, databaseUrl };
  if (databaseUrl !== null) {
    throw configError([
      'GATEWAY_DATABASE_URL and GATEWAY_DATABASE_URL_FILE are both set: keep one of them.',
    ]);
  }
  const written = parseDatabaseUrl(
    readNamedFile('file of the database URL', databaseUrlFile).trim(),
  );
  if (written !== null) return { dataDir, databaseUrl: written };
  const { allowed } = SETTINGS.databaseUrl;
  throw configError([`${databaseUrlFile} holds no URL of a database: allowed is ${allowed}.`]);
}

/** Its name among the coordinators of the database. */
export function nodeNameOf({ nodeName }: Pick<Config, 'nodeName'>): string {
  return (
    nodeName ??
    hostname()
      .toLowerCase()
      .replaceAll(/[^a-z0-9.-]/g, '-')
      .slice(0, 63)
  );
}

/** Its name and URL for other coordinators, for `doctor`: other settings may be invalid. */
export function locateNode(
  flags: ConfigFlags,
  environment: Environment = process.env,
): { readonly name: string; readonly url: string | null } {
  const read = readSome(['nodeName', 'nodeUrl'], flags, environment);
  return { name: nodeNameOf(read), url: read.nodeUrl };
}

/** Where generated files are, for a command that only needs that: others may be invalid. */
export function locateFiles(
  flags: ConfigFlags,
  environment: Environment = process.env,
): FilesPlace {
  return filesPlaceOf(readSome([...FILES_SETTINGS], flags, environment));
}

const FILES_SETTINGS = [
  'dataDir',
  'filesUrl',
  'filesAccessKey',
  'filesAccessKeyFile',
  'filesSecretKey',
  'filesSecretKeyFile',
] as const;

/** Throws a `CommandError` if a credential is in two places, missing, or not usable. */
function filesPlaceOf(read: Pick<Config, (typeof FILES_SETTINGS)[number]>): FilesPlace {
  const { dataDir, filesUrl } = read;
  const filesAccessKey = credentialOf(read, 'filesAccessKey');
  const filesSecretKey = credentialOf(read, 'filesSecretKey');
  const isStorage = filesUrl !== null && parseFilesUrl(filesUrl).kind === 's3';
  if (isStorage && (filesAccessKey === null || filesSecretKey === null)) {
    const { name } = SETTINGS[filesAccessKey === null ? 'filesAccessKey' : 'filesSecretKey'];
    throw configError([
      `${PREFIX}FILES_URL is '${filesUrl}', an object storage, and ${PREFIX}${name} is not set: ` +
        `set it, or ${PREFIX}${name}_FILE.`,
    ]);
  }
  return { dataDir, filesUrl, filesAccessKey, filesSecretKey };
}

/** Secrets that are set themselves, or in a file. */
type Credential = 'filesAccessKey' | 'filesSecretKey' | 'oidcClientSecret';

function credentialOf<Field extends Credential>(
  read: Pick<Config, Field | `${Field}File`>,
  field: Field,
): string | null {
  const [value, file] = [read[field], read[`${field}File`]];
  if (file === null) return value;
  const name = PREFIX + SETTINGS[field].name;
  if (value !== null)
    throw configError([`${name} and ${name}_FILE are both set: keep one of them.`]);
  const written = parseCredential(readNamedFile(`file of ${name}`, file).trim());
  if (written !== null) return written;
  throw configError([`${file} holds no key: allowed is ${SETTINGS[field].allowed}.`]);
}

type PlaceSettings = Pick<Config, 'dataDir' | 'databaseUrl' | 'databaseUrlFile'>;

/** Null if it is unset. For a command that only prints a link: other settings may be invalid. */
export function readPublicUrl(
  flags: ConfigFlags,
  environment: Environment = process.env,
): string | null {
  return readSome(['publicUrl'], flags, environment).publicUrl;
}

/** Limits of queued jobs, for a command that queues: other settings may be invalid. */
export function readQueueLimits(
  flags: ConfigFlags,
  environment: Environment = process.env,
): { readonly jobs: number; readonly bytes: number } {
  const limits = readSome(['maxQueuedJobs', 'maxQueuedBytes'], flags, environment);
  return { jobs: limits.maxQueuedJobs, bytes: limits.maxQueuedBytes };
}

/** Retention times, for a command that prunes: other settings may be invalid. */
export function readRetention(
  flags: ConfigFlags,
  environment: Environment = process.env,
): Pick<Config, 'retentionMs' | 'usageRetentionMs' | 'auditRetentionMs'> {
  return readSome(['retentionMs', 'usageRetentionMs', 'auditRetentionMs'], flags, environment);
}

/** Whether jobs are accepted, for a command that shows it: other settings may be invalid. */
export function readAsyncEnabled(
  flags: ConfigFlags,
  environment: Environment = process.env,
): boolean {
  return readSome(['asyncEnabled'], flags, environment).asyncEnabled;
}

/** The OpenID provider; null if none is configured. */
export function oidcSettings(config: Config): OidcSettings | null {
  const { oidcIssuer: issuer, oidcClientId: clientId, oidcAdminClaim: claim } = config;
  if (issuer === null || clientId === null) return null;
  return {
    issuer,
    clientId,
    clientSecret: config.oidcClientSecret,
    name: config.oidcName,
    scopes: config.oidcScopes,
    domains: config.oidcDomains ?? [],
    admin: claim === null ? null : { claim, value: config.oidcAdminValue ?? '' },
  };
}

/** Settings that limit callers, by their names in the configuration file. */
export function callerLimits(config: Config): Readonly<Record<string, number | string | boolean>> {
  return {
    rate_limit_requests: config.rateLimitRequests,
    rate_limit_window_s: config.rateLimitWindowMs / 1_000,
    max_concurrent: config.maxConcurrent,
    max_queued: config.maxQueuedJobs,
    max_json_bytes: config.maxJsonBytes,
    max_body_memory_bytes: config.maxBodyMemoryBytes,
    max_images: config.maxImages,
    sync_wait_s: config.syncWaitMs / 1_000,
    sync_deadline_s: config.syncDeadlineMs / 1_000,
    job_max_attempts: config.jobMaxAttempts,
    provider_approval: config.providerApproval,
    assets_access: config.assetsAccess,
    assets_link_s: config.assetsLinkMs / 1_000,
  };
}

// A service of the operating system runs in another environment than the shell that installs it.

/** Variables for trusting certificates, and for where a user's services are. */
const KEPT = ['NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'] as const;

export interface ServiceConfig {
  readonly config: Config;
  /** Absolute; null: none. */
  readonly file: string | null;
  /** What is set in the environment and not by a flag. */
  readonly environment: Readonly<Record<string, string>>;
}

/**
 * The settings of a service that is installed with these flags and variables. Throws like
 * `loadConfig`, and for a secret that is only in the environment: all users can read a unit.
 */
export function loadServiceConfig(
  flags: ConfigFlags,
  environment: Environment = process.env,
): ServiceConfig {
  const all = loadConfig(flags, environment);
  const open = Object.entries(environment).filter(([name]) => !SECRETS.includes(name));
  const config = loadWithout(flags, open, environment);
  const fields = Object.keys(SETTINGS) as (keyof Config)[];
  const hidden = fields.find((field) => all[field] !== config[field]);
  if (hidden !== undefined) throw secretError(SETTINGS[hidden].name);
  const named = flags.config ?? (environment[CONFIG_VARIABLE] || undefined);
  const given = fields.filter((field) => FLAGS[field]?.read(flags) === undefined);
  const names = [...KEPT, ...given.map((field) => PREFIX + SETTINGS[field].name)];
  const kept = open.filter(
    ([name, value]) => names.includes(name) && name !== DATA_VARIABLE && value,
  );
  return {
    config,
    file: named === undefined ? null : resolve(named),
    environment: Object.fromEntries(kept.map(absolute)) as Record<string, string>,
  };
}

/** A secret that the environment alone holds may be what is missing then. */
function loadWithout(
  flags: ConfigFlags,
  open: readonly (readonly [string, string | undefined])[],
  environment: Environment,
): Config {
  try {
    return loadConfig(flags, Object.fromEntries(open));
  } catch (error) {
    const hidden = SECRETS.find((name) => environment[name]);
    throw hidden === undefined ? error : secretError(hidden.slice(PREFIX.length));
  }
}

/** A service has another working directory. */
function absolute([name, value]: readonly [string, string | undefined]) {
  return [name, FILE_VARIABLES.includes(name) && value ? resolve(value) : value] as const;
}

/** Settings that name a file with a secret. */
const SECRET_FILES = [
  'databaseUrlFile',
  'filesAccessKeyFile',
  'filesSecretKeyFile',
  'oidcClientSecretFile',
] as const;

const FILE_VARIABLES: readonly string[] = SECRET_FILES.map(
  (field) => PREFIX + SETTINGS[field].name,
);

/** Where the user keeps configuration, also that of services; undefined: in the usual place. */
export function configHome(): string | undefined {
  return process.env['XDG_CONFIG_HOME'];
}

/** The command line always names the folder. */
const DATA_VARIABLE = PREFIX + SETTINGS.dataDir.name;

const SECRETS: readonly string[] = Object.values(SETTINGS as Readonly<Record<string, Setting>>)
  .filter(({ secret }) => secret === true)
  .map(({ name }) => PREFIX + name);

function secretError(name: string): CommandError {
  const message =
    `${PREFIX}${name} is a secret, and every user of this machine can read a service file: write ` +
    `it as "${name.toLowerCase()}" into a configuration file that only the service's user can ` +
    'read, and give that with --config.';
  return new CommandError(EXIT.usage, message);
}

/** Each setting has a default, or may be null. */
function readSome<Field extends keyof Config>(
  fields: readonly Field[],
  flags: ConfigFlags,
  environment: Environment,
): Pick<Config, Field> {
  const sources = gather(flags, environment);
  const problems: string[] = [];
  const read = fields.map((field) => [field, readSetting(field, sources, problems)] as const);
  if (problems.length > 0) throw configError(problems);
  return Object.fromEntries(read) as unknown as Pick<Config, Field>;
}

interface Source {
  /** The name of a setting in this source, for messages. */
  readonly label: (setting: Setting, field: keyof Config) => string;
  readonly value: (setting: Setting, field: keyof Config) => string | undefined;
}

interface Sources {
  /** The strongest first. */
  readonly list: readonly Source[];
  readonly problems: readonly string[];
}

function gather(flags: ConfigFlags, environment: Environment): Sources {
  // An empty variable counts as unset: compose files pass unset variables on like this.
  const named = flags.config ?? (environment[CONFIG_VARIABLE] || undefined);
  const file = named === undefined ? null : readConfigFile(named);
  const fromFlags: Source = {
    label: (_, field) => FLAGS[field]?.label ?? field,
    value: (_, field) => FLAGS[field]?.read(flags),
  };
  const fromEnvironment: Source = {
    label: ({ name }) => PREFIX + name,
    value: ({ name }) => environment[PREFIX + name] || undefined,
  };
  const fromFile: Source = {
    label: ({ name }) => `${name.toLowerCase()} in ${named}`,
    value: ({ name }) => file?.values.get(name.toLowerCase()),
  };
  return { list: [fromFlags, fromEnvironment, fromFile], problems: file?.problems ?? [] };
}

interface Flag {
  readonly label: string;
  readonly read: (flags: ConfigFlags) => string | undefined;
}

const FLAGS: { readonly [Field in keyof Config]?: Flag } = {
  dataDir: { label: '--data', read: ({ data }) => data },
  databaseUrl: { label: '--database', read: ({ database }) => database },
  filesUrl: { label: '--files', read: ({ files }) => files },
  host: { label: '--host', read: ({ host }) => host },
  port: { label: '--port', read: ({ port }) => port },
  publicUrl: { label: '--public-url', read: ({ publicUrl }) => publicUrl },
  metricsPort: { label: '--metrics-port', read: ({ metricsPort }) => metricsPort },
  logLevel: { label: '--log-level', read: ({ logLevel }) => logLevel },
  logFormat: { label: '--log-format', read: ({ logFormat }) => logFormat },
};

/** Null if it is unset, or if its value is invalid, which is added to the problems. */
function readSetting(field: keyof Config, sources: Sources, problems: string[]): unknown {
  const setting: Setting = SETTINGS[field];
  const source = sources.list.find((one) => one.value(setting, field) !== undefined);
  const written = source?.value(setting, field);
  if (source === undefined || written === undefined) {
    return setting.default === null ? null : setting.parse(setting.default);
  }
  const value = setting.parse(written);
  if (value === null) {
    const shown = setting.secret === true ? 'not usable' : `'${written}'`;
    const fault = setting.explain?.(written) ?? `${shown}: allowed is ${setting.allowed}.`;
    problems.push(`${source.label(setting, field)} is ${fault}`);
  }
  return value;
}

function unknownVariables(environment: Environment): string[] {
  const known = [CONFIG_VARIABLE, ...Object.values(SETTINGS).map(({ name }) => PREFIX + name)];
  return Object.keys(environment)
    .filter((name) => name.startsWith(PREFIX) && !name.startsWith(AGENT_PREFIX))
    .filter((name) => !known.includes(name))
    .map((name) => `${name} is no setting of this program.${didYouMean(name, known)}`);
}

function configError(problems: readonly string[]): CommandError {
  const count = problems.length === 1 ? 'one problem' : `${problems.length} problems`;
  return new CommandError(
    EXIT.usage,
    `the configuration has ${count}:\n${problems.map((line) => `  ${line}`).join('\n')}`,
  );
}

// The coordinator's configuration file: one JSON object of settings, their names in lower case.

interface ConfigFile {
  /** By name, as text: a number or `true` in the file means the same as in the environment. */
  readonly values: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

/** Relative ones are relative to the configuration file. */
const PATH_KEYS = [SETTINGS.dataDir, ...SECRET_FILES.map((field) => SETTINGS[field])].map(
  ({ name }) => name.toLowerCase(),
);

const value = z.union([z.string(), z.number(), z.boolean()]).transform(String);

/** Throws a `CommandError` (exit 3) if the file is missing; other errors are problems. */
function readConfigFile(path: string): ConfigFile {
  const document = parse(readNamedFile('configuration file', path));
  if (document === null) {
    return { values: new Map(), problems: [`${path} is not a JSON object, like {"port": 7070}.`] };
  }
  const known = Object.values(SETTINGS).map(({ name }) => name.toLowerCase());
  const values = new Map<string, string>();
  const problems: string[] = [];
  for (const [key, written] of Object.entries(document)) {
    const decoded = value.safeParse(written);
    if (!known.includes(key)) {
      problems.push(`${key} in ${path} is no setting of this program.${didYouMean(key, known)}`);
    } else if (decoded.success) {
      values.set(key, PATH_KEYS.includes(key) ? besideFile(path, decoded.data) : decoded.data);
    } else {
      const shown = JSON.stringify(written);
      problems.push(`${key} in ${path} is ${shown}: allowed is text, a number, true or false.`);
    }
  }
  return { values, problems };
}

/**
 * A relative path in the file is relative to the file, because a file in /etc is read from any
 * working directory.
 */
function besideFile(path: string, written: string): string {
  return written === '' ? '' : resolve(dirname(path), written);
}

function readNamedFile(what: string, path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const message = `cannot read the ${what} ${path}: ${(cause as Error).message}`;
    throw new CommandError(EXIT.notFound, message, { cause });
  }
}

function parse(text: string): Record<string, unknown> | null {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch {
    return null;
  }
}
