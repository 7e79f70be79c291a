/** The schema of the agent's configuration file (`docs/cli/agent-configuration.md`). */
import { createHash } from 'node:crypto';
import { ownTimeZone, parseDayHours } from '@inference-gateway/shared/day-hours';
import type { DayHours } from '@inference-gateway/shared/day-hours';
import { SERVICE_TYPES } from '@inference-gateway/shared/endpoints';
import { LOG_FORMATS, LOG_LEVELS } from '@inference-gateway/shared/program/logger';
import { LINK } from '@inference-gateway/shared/protocol/version';
import * as z from 'zod';
import { isLoopback } from '@inference-gateway/shared/loopback';
import { BACKENDS } from '../backends/create-backend.js';
import { describeIssues } from './problems.js';

/** The link's limit for one HELLO. */
const MAX_SERVICES = 64;

const name = z.string().min(1).max(256);

const names = z.array(name).max(64);

const model = z.strictObject({
  id: name,
  served_name: name.optional(),
  context_length: z.int().min(1).optional(),
  input_modalities: names.optional(),
  supported_features: names.optional(),
  voices: z.array(name).max(1_000).optional(),
});

const service = z.strictObject({
  type: z.enum(SERVICE_TYPES),
  backend: z.enum(BACKENDS),
  base_url: url(localUrlFault),
  slots: z.int().min(1).max(LINK.maxStreams).optional(),
  slot_group: name.optional(),
  api_key_file: z.string().min(1).optional(),
  models: z.array(model).max(LINK.maxModels).optional(),
  prove: z.boolean().optional(),
  id: name.optional(),
  foreign: z.boolean().optional(),
  hours: hours().optional(),
  drop_fields: names.optional(),
  workflows: z.string().min(1).optional(),
  models_folder: z.string().min(1).optional(),
});

const gameMode = z.strictObject({
  enabled: z.boolean().optional(),
  running: z.enum(['yield', 'finish']).optional(),
  memory_mib: z.int().min(1).max(1_048_576).optional(),
  use_percent: z.int().min(1).max(100).optional(),
  ignore: names.optional(),
});

/** A petabyte: more than any machine has. */
export const MAX_MODELS_GB = 1_000_000;

/** The coordinator's URL may have a WebSocket scheme. */
const HTTP_SCHEMES: Readonly<Record<string, string>> = { 'ws:': 'http:', 'wss:': 'https:' };

const configFile = z.strictObject({
  url: url(coordinatorUrlFault).optional(),
  name: name.optional(),
  log_level: z.enum(LOG_LEVELS).optional(),
  log_format: z.enum(LOG_FORMATS).optional(),
  ffmpeg: z.string().min(1).optional(),
  hours: hours().optional(),
  game_mode: gameMode.optional(),
  status_port: z.int().min(1).max(65_535).optional(),
  manage_models: z.boolean().optional(),
  delete_models: z.boolean().optional(),
  models_max_gb: z.number().min(0).max(MAX_MODELS_GB).optional(),
  models_min_free_gb: z.number().min(0).max(MAX_MODELS_GB).optional(),
  unstoppable_pulls: z.boolean().optional(),
  services: z.array(service).max(MAX_SERVICES).optional(),
});

const KEYS = {
  '': Object.keys(configFile.shape),
  game_mode: Object.keys(gameMode.shape),
  services: Object.keys(service.shape),
  'services.models': Object.keys(model.shape),
};

export type FileService = z.infer<typeof service>;

export type FileConfig = z.infer<typeof configFile>;

/** The file's content, and all its faults. */
export interface ParsedConfig {
  /** Without the faulty parts. */
  readonly config: FileConfig;
  /** One line each; empty if the file is valid. */
  readonly problems: readonly string[];
}

export function parseConfig(document: unknown): ParsedConfig {
  const whole = configFile.safeParse(document);
  if (whole.success) {
    return { config: whole.data, problems: sameIds(whole.data.services ?? []) };
  }
  const services = soundServices(document);
  const faults = describeIssues(whole.error.issues, { document, keys: KEYS });
  return {
    config: { services: services.flatMap((one) => one ?? []) },
    problems: [...faults, ...sameIds(services)],
  };
}

/**
 * Shares refer to this id: it must stay the same for one server, so it ignores a trailing slash.
 */
export function serviceId(
  entry: Pick<FileService, 'id' | 'type' | 'backend' | 'base_url'>,
): string {
  if (entry.id !== undefined) return entry.id;
  const hash = createHash('sha256').update(entry.backend + trimSlashes(entry.base_url));
  return `${entry.type}-${hash.digest('hex').slice(0, 8)}`;
}

/** In this machine's time zone. */
export function dayHours(text: string): DayHours | null {
  return parseDayHours(text, ownTimeZone());
}

function hours(): z.ZodType<string> {
  return z.string().refine((text) => dayHours(text) !== null, {
    error: 'it must be two times of the day, such as 22:00-07:00',
  });
}

function url(faultOf: (text: string) => string | null): z.ZodType<string> {
  return z.string().superRefine((text, context) => {
    const fault = faultOf(text);
    if (fault !== null) context.addIssue({ code: 'custom', message: fault });
  });
}

/** Null in place of each faulty service, so that the others keep their index. */
function soundServices(document: unknown): (FileService | null)[] {
  const list = z.object({ services: z.array(z.unknown()) }).safeParse(document);
  if (!list.success) return [];
  return list.data.services.map((one) => service.safeParse(one).data ?? null);
}

/** Neither the coordinator nor `services remove` could distinguish two services with one id. */
function sameIds(services: readonly (FileService | null)[]): string[] {
  const first = new Map<string, number>();
  return services.flatMap((one, index) => {
    if (one === null) return [];
    const id = serviceId(one);
    const earlier = first.get(id);
    if (earlier === undefined) first.set(id, index);
    if (earlier === undefined) return [];
    return [
      `services[${index}].id is "${id}" like that of services[${earlier}]: ` +
        'remove one of the two, or give it an "id" of its own',
    ];
  });
}

// Which addresses the agent accepts: one coordinator, and the local servers of its owner.

/** The fault of a coordinator's URL, or null: the token must not cross a network unencrypted. */
export function coordinatorUrlFault(text: string): string | null {
  const url = parse(text);
  const scheme = schemeOf(url);
  if (url === null || (scheme !== 'http:' && scheme !== 'https:')) {
    return 'it must be the address of the coordinator, like https://gateway.example.org';
  }
  if (scheme === 'http:' && !isLoopback(url.hostname)) {
    return `it must be https://${url.host}: only to this machine may the link be unencrypted`;
  }
  if (url.pathname !== '/') return `it must be ${url.origin} alone, without ${url.pathname}`;
  return extraFault(url);
}

/** The fault of a local model server's base URL, or null. */
function localUrlFault(text: string): string | null {
  const url = parse(text);
  if (url === null || (url.protocol !== 'http:' && url.protocol !== 'https:')) {
    return 'it must start with http:// or https://, like http://127.0.0.1:8080/v1';
  }
  return extraFault(url);
}

/** The origin of a valid coordinator URL, as the rest of the agent uses it: `http(s)://host`. */
export function coordinatorUrl(text: string): string {
  const url = new URL(text);
  return `${schemeOf(url)}//${url.host}`;
}

export function trimSlashes(text: string): string {
  return text.replace(/\/+$/, '');
}

function parse(text: string): URL | null {
  return URL.canParse(text) ? new URL(text) : null;
}

function schemeOf(url: URL | null): string | undefined {
  return url === null ? undefined : (HTTP_SCHEMES[url.protocol] ?? url.protocol);
}

function extraFault({ username, password, search, hash }: URL): string | null {
  if (username !== '' || password !== '') return 'it must not hold a user name or password';
  return search === '' && hash === '' ? null : 'it must end before "?" and "#"';
}
