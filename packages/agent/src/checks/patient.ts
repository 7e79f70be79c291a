/** The subject of the doctor's checks: a configuration, and the agent that runs with it, if any. */
import type { ConfigLocation } from '../config/file.js';

/** The running agent, by its own report. */
export interface RunningAgent {
  readonly pid: number;
  /** `online`, `connecting` or `stopping`. */
  readonly connection: string;
  readonly reason: string | null;
  /** Running requests. */
  readonly streams: number;
  /** Whose work is accepted. */
  readonly accepts: string;
  readonly services: readonly SeenService[];
}

/** A configured service, with its state. */
export interface SeenService {
  readonly id: string;
  readonly type: string;
  /** `starting`, `up` or `down`. */
  readonly state: string;
  /** Why it is down. */
  readonly reason: string | null;
  readonly models: readonly string[];
  /** Not offered: `proving`, or `failed` with the reason. Absent if no agent runs. */
  readonly held_back?: readonly {
    readonly id: string;
    readonly state: string;
    readonly reason: string | null;
  }[];
}

export interface TestCall {
  readonly model: string;
  readonly ok: boolean;
  readonly ms: number;
  readonly reason: string | null;
  /** There was no answer; `stopped`: none within the limit. */
  readonly cut: 'unreachable' | 'stopped' | null;
}

/** Tests one model of a service, the one that is ready soonest. Throws if there is none. */
export type TestService = (serviceId: string, limitMs: number) => Promise<TestCall>;

export interface Patient {
  readonly location: ConfigLocation;
  readonly running: RunningAgent | null;
  /** Through the running agent. */
  readonly test: TestService;
}

/** `--config FILE`, if a command needs it for this configuration. */
export function configFlag({ file, named }: ConfigLocation): string {
  return named ? ` --config ${file}` : '';
}

/** The promise's value; throws if it takes too long. */
export async function orTimeout<T>(limitMs: number, promised: Promise<T>): Promise<T> {
  let timer: NodeJS.Timeout | undefined;
  const tooLate = new Promise<never>((_, reject) => {
    timer = setTimeout(() => reject(new Error(`no answer within ${limitMs / 1_000} s`)), limitMs);
  });
  try {
    return await Promise.race([promised, tooLate]);
  } finally {
    clearTimeout(timer);
  }
}
