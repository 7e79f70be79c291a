/**
 * The agent's configuration: flags > environment > file > default. Only this module reads the
 * environment. It reports all faults at once.
 */
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import type { DayHours } from '@inference-gateway/shared/day-hours';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { LOG_FORMATS, LOG_LEVELS } from '@inference-gateway/shared/program/logger';
import type { LogFormat, LogLevel } from '@inference-gateway/shared/program/logger';
import envPaths from 'env-paths';
import type { ServiceConfig } from '../backends/backend.js';
import { readConfigFile, configLocation } from './file.js';
import type { ConfigLocation } from './file.js';
import { modelSettings } from './model-settings.js';
import type { ModelSettings, WrittenModels } from './model-settings.js';
import { choice, configError, problem } from './problems.js';
import { dayHours, coordinatorUrl, coordinatorUrlFault, MAX_MODELS_GB } from './schema.js';
import type { FileConfig } from './schema.js';
import { loadServices } from './services.js';

export interface AgentConfig {
  readonly location: ConfigLocation;
  /** The coordinator, without a trailing slash; null before enrolment, like the token. */
  readonly url: string | null;
  readonly token: string | null;
  /** The provider's name at the coordinator, if it is known here. */
  readonly name: string | null;
  readonly logLevel: LogLevel;
  /** Null: readable lines on a terminal, JSON elsewhere. */
  readonly logFormat: LogFormat | null;
  /** Path of ffmpeg; null: the one in the search path. */
  readonly ffmpeg: string | null;
  /** When others may use this machine; null: always. */
  readonly hours: DayHours | null;
  readonly gameMode: GameModeSettings;
  /** Port on 127.0.0.1 for `/readyz` and `/metrics`; null: not served. */
  readonly statusPort: number | null;
  /** What the coordinator may do with models of local servers. */
  readonly models: ModelSettings;
  readonly services: readonly ServiceConfig[];
}

/** The configuration file: `--config`, GATEWAY_AGENT_CONFIG, or the platform's default. */
export function locateConfig(flag: string | undefined): ConfigLocation {
  const named = flag ?? fromEnvironment('CONFIG');
  return configLocation(named ?? usualConfigFile(), named !== undefined);
}

/** Reads everything that a running agent needs. */
export async function loadConfig(location: ConfigLocation): Promise<AgentConfig> {
  const { config: file, problems } = await readConfigFile(location);
  const loaded = await loadServices(file.services ?? [], location.file);
  const environment = readEnvironment();
  const wrong = [...problems, ...environment.problems, ...loaded.wrong];
  refuseProblems(location, wrong, loaded.problems);
  const url = environment.url ?? file.url;
  return {
    location,
    url: url === undefined ? null : coordinatorUrl(url),
    token: await readToken(location),
    name: environment.name ?? file.name ?? null,
    logLevel: environment.logLevel ?? file.log_level ?? 'info',
    logFormat: environment.logFormat ?? file.log_format ?? null,
    ffmpeg: file.ffmpeg === undefined ? null : programPath(file.ffmpeg, location.file),
    hours: file.hours === undefined ? null : dayHours(file.hours),
    gameMode: gameMode(file.game_mode),
    statusPort: file.status_port ?? null,
    models: modelSettings(file, environment.models),
    services: loaded.services,
  };
}

/** The settings from the environment, and their faults. */
export interface Environment {
  readonly url: string | undefined;
  readonly name: string | undefined;
  readonly logLevel: LogLevel | undefined;
  readonly logFormat: LogFormat | undefined;
  readonly models: WrittenModels;
  readonly problems: readonly string[];
}

export function readEnvironment(): Environment {
  const problems: string[] = [];
  const url = fromEnvironment('URL');
  const urlFault = url === undefined ? null : coordinatorUrlFault(url);
  if (urlFault !== null) problems.push(problem('GATEWAY_AGENT_URL', url, urlFault));
  const logLevel = oneOf('LOG_LEVEL', LOG_LEVELS, problems);
  const logFormat = oneOf('LOG_FORMAT', LOG_FORMATS, problems);
  const models = {
    ...defined('manage_models', yesOrNo('MANAGE_MODELS', problems)),
    ...defined('delete_models', yesOrNo('DELETE_MODELS', problems)),
    ...defined('models_max_gb', amount('MODELS_MAX_GB', problems)),
    ...defined('models_min_free_gb', amount('MODELS_MIN_FREE_GB', problems)),
    ...defined('unstoppable_pulls', yesOrNo('UNSTOPPABLE_PULLS', problems)),
  };
  return { url, name: fromEnvironment('NAME'), logLevel, logFormat, models, problems };
}

function defined<K extends string, T>(key: K, value: T | undefined): { readonly [P in K]?: T } {
  return value === undefined ? {} : ({ [key]: value } as { readonly [P in K]: T });
}

function yesOrNo(
  name: 'MANAGE_MODELS' | 'DELETE_MODELS' | 'UNSTOPPABLE_PULLS',
  problems: string[],
): boolean | undefined {
  const value = oneOf(name, ['true', 'false'], problems);
  return value === undefined ? undefined : value === 'true';
}

/** In gigabytes. */
function amount(
  name: 'MODELS_MAX_GB' | 'MODELS_MIN_FREE_GB',
  problems: string[],
): number | undefined {
  const written = fromEnvironment(name);
  if (written === undefined) return undefined;
  const value = /^\d{1,7}(\.\d{1,3})?$/.test(written) ? Number(written) : Number.NaN;
  if (value <= MAX_MODELS_GB) return value;
  const fault = `it must be a number from 0 to ${MAX_MODELS_GB}, like 100`;
  problems.push(problem(`GATEWAY_AGENT_${name}`, written, fault));
  return undefined;
}

/** Undefined if the variable is unset, or none of the values, which is added to the problems. */
function oneOf<const T extends string>(
  name: Variable,
  allowed: readonly T[],
  problems: string[],
): T | undefined {
  const written = fromEnvironment(name);
  const value = allowed.find((one) => one === written);
  if (written !== undefined && value === undefined) {
    problems.push(problem(`GATEWAY_AGENT_${name}`, written, choice(written, allowed)));
  }
  return value;
}

/** When the owner counts as the card's user, and what then happens to others' work. */
export interface GameModeSettings {
  readonly enabled: boolean;
  /** Running work for others is handed back, or finished. */
  readonly running: 'yield' | 'finish';
  /** Limit of the card's memory for a program that is not a configured server. */
  readonly memoryMib: number;
  /** Limit of the cards' use while none of the agent's work runs. */
  readonly usePercent: number;
  /** Names of programs to ignore. */
  readonly ignore: readonly string[];
}

/** Above what CUDA takes for a program that only opens it: 518 MiB on an H100 with driver 580. */
const MEMORY_MIB = 1_024;

export function gameMode(file: FileConfig['game_mode'] = {}): GameModeSettings {
  return {
    enabled: file.enabled ?? true,
    running: file.running ?? 'yield',
    memoryMib: file.memory_mib ?? MEMORY_MIB,
    usePercent: file.use_percent ?? 20,
    ignore: file.ignore ?? [],
  };
}

/** Relative to the configuration, like key files; a bare name is looked up in the search path. */
function programPath(program: string, configFile: string): string {
  return basename(program) === program ? program : resolve(dirname(configFile), program);
}

/**
 * If only a file is missing the exit code is 3, as for any file that a user names; for a wrong
 * configuration it is 2.
 */
function refuseProblems(
  location: ConfigLocation,
  wrong: readonly string[],
  missing: readonly string[],
): void {
  const problems = [...wrong, ...missing];
  if (problems.length === 0) return;
  throw configError(location.file, problems, wrong.length === 0 ? EXIT.notFound : EXIT.usage);
}

async function readToken({ tokenFile }: ConfigLocation): Promise<string | null> {
  const given = fromEnvironment('TOKEN');
  if (given !== undefined) return sendable(given, 'GATEWAY_AGENT_TOKEN');
  const kept = await readTokenFile(tokenFile);
  return kept === null ? null : sendable(kept, tokenFile);
}

/** A header accepts only these characters, and no coordinator issues others. */
function sendable(token: string, source: string): string {
  if (/^[\x21-\x7e]+$/.test(token)) return token;
  const message =
    `${source} holds something else than an agent's token, which is one word (gwa_…). ` +
    'Join again with: gateway-agent login --force --url <coordinator>.';
  throw new CommandError(EXIT.notAuthorised, message);
}

async function readTokenFile(tokenFile: string): Promise<string | null> {
  try {
    return (await readFile(tokenFile, 'utf8')).trim() || null;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    const message = `cannot read this agent's token: ${(cause as Error).message}`;
    throw new CommandError(EXIT.notAuthorised, message, { cause });
  }
}

/** `$XDG_CONFIG_HOME/gateway-agent/config.json`, or the platform's equivalent. */
export function usualConfigFile(): string {
  return join(envPaths('gateway-agent', { suffix: '' }).config, 'config.json');
}

type Variable = (typeof OWN)[number] | 'TOKEN' | 'CONFIG';

/** An empty variable counts as absent: container files often set one. */
function fromEnvironment(name: Variable): string | undefined {
  return process.env[`GATEWAY_AGENT_${name}`]?.trim() || undefined;
}

// Variables that a service of the operating system copies at its installation: it runs in a
// different environment.

/** Variables for finding programs, and for trusting the coordinator's certificate. */
const KEPT = ['PATH', 'NODE_EXTRA_CA_CERTS', 'SSL_CERT_FILE', 'SSL_CERT_DIR'] as const;

/** Never the token: all users can read units. */
const OWN = [
  'URL',
  'NAME',
  'LOG_LEVEL',
  'LOG_FORMAT',
  'MANAGE_MODELS',
  'DELETE_MODELS',
  'MODELS_MAX_GB',
  'MODELS_MIN_FREE_GB',
  'UNSTOPPABLE_PULLS',
] as const;

/** The set variables, for the service file. */
export function daemonEnvironment(): Record<string, string> {
  const names = [...KEPT, ...OWN.map((name) => `GATEWAY_AGENT_${name}`)];
  return Object.fromEntries(names.flatMap(variable));
}

/** Where the user keeps configuration, also that of services; undefined: in the usual place. */
export function configHome(): string | undefined {
  return process.env['XDG_CONFIG_HOME'];
}

function variable(name: string): [string, string][] {
  const value = process.env[name];
  return value === undefined || value === '' ? [] : [[name, value]];
}

// Facts from the environment for the doctor, beside the configuration.

/** Proxy variables; only their names may be shown: a value may contain a password. */
const PROXIES = ['HTTPS_PROXY', 'HTTP_PROXY', 'ALL_PROXY'];

/** Whether the token comes from the environment, so that its file is ignored. */
export function hasEnvironmentToken(): boolean {
  return isSet('GATEWAY_AGENT_TOKEN');
}

export function proxyVariables(): string[] {
  return PROXIES.flatMap((name) => [name, name.toLowerCase()]).filter(isSet);
}

function isSet(name: string): boolean {
  return (process.env[name]?.trim() ?? '') !== '';
}
