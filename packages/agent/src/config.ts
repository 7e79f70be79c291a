/**
 * The agent's configuration: flags > environment > file > default. The only reader of the
 * environment. All that is wrong is reported at once.
 */
import { readFile } from 'node:fs/promises';
import { basename, dirname, join, resolve } from 'node:path';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { LOG_LEVELS } from '@inference-gateway/shared/program/logger';
import type { LogLevel } from '@inference-gateway/shared/program/logger';
import envPaths from 'env-paths';
import type { ServiceConfig } from './backends/backend.js';
import { readConfigFile } from './config-file.js';
import { configLocation } from './config-location.js';
import type { ConfigLocation } from './config-location.js';
import { choice, configError, problem } from './config-problems.js';
import { loadServices } from './config-services.js';
import { coordinatorUrl, coordinatorUrlFault } from './config-url.js';

export interface AgentConfig {
  readonly location: ConfigLocation;
  /** The coordinator, without a trailing slash; null before enrolment, like the token. */
  readonly url: string | null;
  readonly token: string | null;
  /** What the coordinator calls this provider, as far as it is known here. */
  readonly name: string | null;
  readonly logLevel: LogLevel;
  /** Where it lies; null: wherever the search path has it. */
  readonly ffmpeg: string | null;
  readonly services: readonly ServiceConfig[];
}

/** Where the configuration lies: `--config`, GATEWAY_AGENT_CONFIG, or the platform's own place. */
export function locateConfig(flag: string | undefined): ConfigLocation {
  const named = flag ?? fromEnvironment('CONFIG');
  return configLocation(named ?? defaultFile(), named !== undefined);
}

/** Reads everything that a running agent needs. */
export async function loadConfig(location: ConfigLocation): Promise<AgentConfig> {
  const { config: file, problems } = await readConfigFile(location);
  const loaded = await loadServices(file.services ?? [], location.file);
  const environment = readEnvironment();
  refuseProblems(location, [...problems, ...environment.problems], loaded.problems);
  const url = environment.url ?? file.url;
  return {
    location,
    url: url === undefined ? null : coordinatorUrl(url),
    token: fromEnvironment('TOKEN') ?? (await readToken(location)),
    name: environment.name ?? file.name ?? null,
    logLevel: environment.logLevel ?? file.log_level ?? 'info',
    ffmpeg: file.ffmpeg === undefined ? null : programPath(file.ffmpeg, location.file),
    services: loaded.services,
  };
}

/** What the environment says, and what is wrong with it. */
export interface Environment {
  readonly url: string | undefined;
  readonly name: string | undefined;
  readonly logLevel: LogLevel | undefined;
  readonly problems: readonly string[];
}

export function readEnvironment(): Environment {
  const problems: string[] = [];
  const url = fromEnvironment('URL');
  const urlFault = url === undefined ? null : coordinatorUrlFault(url);
  if (urlFault !== null) problems.push(problem('GATEWAY_AGENT_URL', url, urlFault));
  const level = fromEnvironment('LOG_LEVEL');
  const logLevel = LOG_LEVELS.find((one) => one === level);
  if (level !== undefined && logLevel === undefined) {
    problems.push(problem('GATEWAY_AGENT_LOG_LEVEL', level, choice(level, LOG_LEVELS)));
  }
  return { url, name: fromEnvironment('NAME'), logLevel, problems };
}

/** Relative to the configuration, like key files; a bare name is one for the search path. */
function programPath(program: string, configFile: string): string {
  return basename(program) === program ? program : resolve(dirname(configFile), program);
}

/** A missing file alone exits 3, like any file that its user named; wrong configuration exits 2. */
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
  try {
    return (await readFile(tokenFile, 'utf8')).trim() || null;
  } catch (cause) {
    if ((cause as NodeJS.ErrnoException).code === 'ENOENT') return null;
    const message = `cannot read this agent's token: ${(cause as Error).message}`;
    throw new CommandError(EXIT.notAuthorised, message, { cause });
  }
}

/** `$XDG_CONFIG_HOME/gateway-agent/config.json`, or what the platform has in its place. */
function defaultFile(): string {
  return join(envPaths('gateway-agent', { suffix: '' }).config, 'config.json');
}

/** An empty variable counts as absent: container files often set one so. */
function fromEnvironment(
  name: 'URL' | 'TOKEN' | 'NAME' | 'LOG_LEVEL' | 'CONFIG',
): string | undefined {
  return process.env[`GATEWAY_AGENT_${name}`]?.trim() || undefined;
}
