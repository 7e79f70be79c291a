/**
 * Detects what listens on a port by its answers, never by the port's number: half of all model
 * servers share four ports. Sends only GET, one request at a time per port, and only to this
 * machine.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import { isLoopback } from '@inference-gateway/shared/loopback';
import { LocalFailure } from '../backend.js';
import type { BackendName } from '../create-backend.js';
import { wantsKeyAt } from './signs.js';
import type { Ask, ServedType } from './signs.js';
import { FINGERPRINTS } from './fingerprints.js';
import type { Fingerprint } from './fingerprints.js';
import { probe } from '../probe.js';
import type { ProbeAnswer } from '../probe.js';

/** One kind of work of one server. */
export interface Detected {
  /** The program's name, or `unknown`. */
  readonly server: string;
  /** The backend for it; null if there is none. */
  readonly backend: BackendName | null;
  readonly type: ServiceType;
  readonly baseUrl: string;
  /** Shared by the types of a server that runs one request at a time, else null. */
  readonly slotGroup: string | null;
  /** The models of this type, if the server's list does not separate the types; else null. */
  readonly models: readonly string[] | null;
  readonly needsKey: boolean;
  /** A note for the owner; null if there is nothing to report. */
  readonly note: string | null;
}

const PROBE_TIMEOUT_MS = 1_500;

/** Limits the total time for a server that answers some paths and stalls on others. */
const SERVER_TIMEOUT_MS = 10_000;

const PORTS_AT_ONCE = 8;

/** Ollama and LM Studio bind the first, some others only the second. */
const LOOPBACK = ['127.0.0.1', '[::1]'];

/** No answer at all. */
const SILENCE: ProbeAnswer = { status: 0, server: '', text: '', json: undefined };

/**
 * Examines one origin, such as `http://127.0.0.1:8080`: one entry per type that it serves. Throws a
 * `LocalFailure` if nothing answers.
 */
export async function detect(
  baseOrigin: string,
  signal: AbortSignal,
): Promise<readonly Detected[]> {
  const whole = AbortSignal.any([signal, AbortSignal.timeout(SERVER_TIMEOUT_MS)]);
  const ask = asker(baseOrigin, whole);
  for (const fingerprint of FINGERPRINTS) {
    if (await fingerprint.matches(ask)) return describe(fingerprint, baseOrigin, ask);
  }
  const note = 'an HTTP server answers, but it is no model server that this version knows';
  const none = { backend: null, type: 'llm', slotGroup: null, models: null } as const;
  return [{ server: 'unknown', ...none, baseUrl: baseOrigin, needsKey: false, note }];
}

/** The model servers on this machine, in port order. */
export async function scanLoopback(
  ports: readonly number[] = USUAL_PORTS,
): Promise<readonly Detected[]> {
  const found = await sideBySide([...new Set(ports)], PORTS_AT_ONCE, scanPort);
  return found.flat();
}

async function scanPort(port: number): Promise<readonly Detected[]> {
  for (const host of LOOPBACK) {
    const detected = await detectOrNone(`http://${host}:${port}`);
    if (detected.some(({ server }) => server !== 'unknown')) return detected;
  }
  return [];
}

/** Most ports have no listener, and some listeners do not speak HTTP: neither is an error here. */
async function detectOrNone(origin: string): Promise<readonly Detected[]> {
  try {
    return await detect(origin, new AbortController().signal);
  } catch {
    return [];
  }
}

/**
 * A server that has answered once is present, even if it stalls or breaks off at a missing path.
 */
function asker(origin: string, signal: AbortSignal): Ask {
  const seen = new Map<string, ProbeAnswer>();
  return async (path) => {
    const known = seen.get(path);
    if (known !== undefined) return known;
    const limited = AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]);
    const asked = probe(origin + path, { apiKey: null, signal: limited });
    const answer = seen.size === 0 ? await asked : await asked.catch(silenceUnlessGone);
    seen.set(path, answer);
    return answer;
  };
}

function silenceUnlessGone(error: unknown): ProbeAnswer {
  if (error instanceof LocalFailure && error.code !== 'LOCAL_UNREACHABLE') return SILENCE;
  throw error;
}

async function describe(
  fingerprint: Fingerprint,
  origin: string,
  ask: Ask,
): Promise<readonly Detected[]> {
  const { server, backend, type, path } = fingerprint;
  const needsKey = await (fingerprint.wantsKey ?? listIsGuarded)(ask);
  const told = needsKey ? [] : ((await fingerprint.served?.(ask)) ?? []);
  const served: readonly ServedType[] = told.length === 0 ? [{ type, models: null }] : told;
  const slotGroup = served.length > 1 ? groupOf(fingerprint, origin) : null;
  const note = noteOn(fingerprint, needsKey);
  return served.map((one) => ({
    server,
    backend,
    ...one,
    baseUrl: origin + path,
    slotGroup,
    needsKey,
    note,
  }));
}

function listIsGuarded(ask: Ask): Promise<boolean> {
  return wantsKeyAt(ask, '/v1/models');
}

function groupOf({ takesTurns, server }: Fingerprint, origin: string): string | null {
  return takesTurns === true ? `${server.toLowerCase()}-${new URL(origin).port}` : null;
}

function noteOn({ backend, note }: Fingerprint, needsKey: boolean): string | null {
  if (note !== undefined) return note;
  if (backend === null) return 'found, but not usable with this version';
  return needsKey ? 'found, needs key' : null;
}

/** Calls `run` for each item with limited concurrency. The answers keep the order of the items. */
export async function sideBySide<Item, Answer>(
  items: readonly Item[],
  atOnce: number,
  run: (item: Item) => Promise<Answer>,
): Promise<Answer[]> {
  const answers = new Map<number, Answer>();
  const waiting = [...items.entries()];
  const runNext = async (): Promise<void> => {
    for (let next = waiting.shift(); next !== undefined; next = waiting.shift()) {
      answers.set(next[0], await run(next[1]));
    }
  };
  await Promise.all(Array.from({ length: atOnce }, runNext));
  return [...answers].toSorted(([a], [b]) => a - b).map(([, answer]) => answer);
}

// The ports of this machine that may belong to a model server.

/** The default ports of model servers, the most common first. */
export const USUAL_PORTS: readonly number[] = [
  11434, 1234, 8080, 8000, 7860, 7861, 8880, 5001, 5000, 8188, 1337, 4891, 13305, 12434, 10240,
  30000, 5005, 4123, 9000, 8001, 8081, 23333, 9090, 7801, 4000, 7997,
];

/** An upper limit far above real machines; each port costs a few requests. */
const MAX_PORTS = 256;

/** Ports of configured base URLs on this machine come first. */
export function candidatePorts(
  baseUrls: readonly string[],
  others: readonly number[],
): readonly number[] {
  const configured = baseUrls.flatMap((url) => loopbackPort(url) ?? []);
  const ports = new Set([...configured, ...USUAL_PORTS, ...others]);
  return [...ports].slice(0, MAX_PORTS);
}

/** Null if the URL leads to another machine: a scan never asks other machines. */
function loopbackPort(text: string): number | null {
  const { hostname, port, protocol } = new URL(text);
  if (!isLoopback(hostname) || protocol !== 'http:') return null;
  return port === '' ? 80 : Number(port);
}
