/**
 * What listens on a port, told by what it answers and never by the port's number: half of all model
 * servers share four ports. Only GET, one request at a time a port, and only on this machine.
 */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { BackendName } from './create-backend.js';
import { FINGERPRINTS } from './fingerprints.js';
import type { Ask, Fingerprint } from './fingerprints.js';
import { probe } from './probe.js';
import type { ProbeAnswer } from './probe.js';

export interface Detected {
  /** The program's name, or `unknown`. */
  readonly server: string;
  /** The backend that makes it usable; null where none does. */
  readonly backend: BackendName | null;
  readonly type: ServiceType;
  readonly baseUrl: string;
  readonly needsKey: boolean;
  /** What its owner should know; null where all is well. */
  readonly note: string | null;
}

/** Where model servers listen unless told otherwise. */
export const USUAL_PORTS: readonly number[] = [
  11434, 1234, 8080, 8000, 7860, 7861, 8880, 5001, 5000, 1337, 4891, 13305, 12434, 10240, 30000,
  23333, 8081, 8001,
];

const PROBE_TIMEOUT_MS = 1_500;
const PORTS_AT_ONCE = 8;
/** Ollama and LM Studio bind the first, some others only the second. */
const LOOPBACK = ['127.0.0.1', '[::1]'];

/**
 * Examines one origin, such as `http://127.0.0.1:8080`. Throws a `LocalFailure` where nothing
 * answers.
 */
export async function detect(baseOrigin: string, signal: AbortSignal): Promise<Detected> {
  const seen = new Map<string, ProbeAnswer>();
  const ask: Ask = async (path) => {
    const known = seen.get(path);
    if (known !== undefined) return known;
    const limited = AbortSignal.any([signal, AbortSignal.timeout(PROBE_TIMEOUT_MS)]);
    const answer = await probe(baseOrigin + path, { apiKey: null, signal: limited });
    seen.set(path, answer);
    return answer;
  };
  for (const fingerprint of FINGERPRINTS) {
    if (await fingerprint.matches(ask)) return describe(fingerprint, baseOrigin, ask);
  }
  return {
    server: 'unknown',
    backend: null,
    type: 'llm',
    baseUrl: baseOrigin,
    needsKey: false,
    note: 'an HTTP server answers, but it is no model server that this version knows',
  };
}

/** The model servers on this machine, in the order of the ports. */
export async function scanLoopback(
  ports: readonly number[] = USUAL_PORTS,
): Promise<readonly Detected[]> {
  const found = new Map<number, Detected>();
  const waiting = [...new Set(ports)];
  const scanNext = async (): Promise<void> => {
    for (let port = waiting.shift(); port !== undefined; port = waiting.shift()) {
      const detected = await scanPort(port);
      if (detected !== null) found.set(port, detected);
    }
  };
  await Promise.all(Array.from({ length: PORTS_AT_ONCE }, scanNext));
  return [...new Set(ports)].flatMap((port) => found.get(port) ?? []);
}

async function scanPort(port: number): Promise<Detected | null> {
  for (const host of LOOPBACK) {
    const detected = await detectOrNull(`http://${host}:${port}`);
    if (detected !== null && detected.server !== 'unknown') return detected;
  }
  return null;
}

/** Most ports have no listener, and some listeners do not speak HTTP: neither is an error here. */
async function detectOrNull(origin: string): Promise<Detected | null> {
  try {
    return await detect(origin, new AbortController().signal);
  } catch {
    return null;
  }
}

async function describe(fingerprint: Fingerprint, origin: string, ask: Ask): Promise<Detected> {
  const { server, backend, type, path } = fingerprint;
  const needsKey = await wantsKey(fingerprint, ask);
  return {
    server,
    backend,
    type,
    baseUrl: origin + path,
    needsKey,
    note: noteOn(backend, needsKey),
  };
}

/** llama-server guards its properties, the others their model list. */
async function wantsKey({ path, guarded }: Fingerprint, ask: Ask): Promise<boolean> {
  if (guarded !== undefined) return (await ask(guarded)).status === 401;
  if ((await ask(`${path === '' ? '/v1' : path}/models`)).status === 401) return true;
  return (await ask('/props')).status === 401;
}

function noteOn(backend: BackendName | null, needsKey: boolean): string | null {
  if (backend === null) return 'found, but not usable with this version';
  return needsKey ? 'found, but it wants a key' : null;
}
