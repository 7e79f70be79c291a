/** What the doctor looks at: a configuration, and the agent that runs on it, if one does. */
import type { ConfigLocation } from '../config/file.js';

/** The agent that runs, as it tells of itself. */
export interface RunningAgent {
  readonly pid: number;
  /** `online`, `connecting` or `stopping`. */
  readonly connection: string;
  readonly reason: string | null;
  /** Requests under way. */
  readonly streams: number;
  /** Whose work is let in. */
  readonly accepts: string;
  readonly services: readonly SeenService[];
}

/** A configured service as far as it answers. */
export interface SeenService {
  readonly id: string;
  readonly type: string;
  /** `starting`, `up` or `down`. */
  readonly state: string;
  /** Why it is down. */
  readonly reason: string | null;
  readonly models: readonly string[];
  /** Not offered: `proving`, or `failed` with the reason. Absent where no agent runs. */
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
  /** It came to no answer, `stopped` within the limit. */
  readonly cut: 'unreachable' | 'stopped' | null;
}

/** Asks one model of a service, whichever is ready soonest. Throws where there is none. */
export type TestService = (serviceId: string, limitMs: number) => Promise<TestCall>;

export interface Patient {
  readonly location: ConfigLocation;
  readonly running: RunningAgent | null;
  /** Through the running agent. */
  readonly test: TestService;
}

/** `--config FILE`, where a command needs it to mean this configuration. */
export function configFlag({ file, named }: ConfigLocation): string {
  return named ? ` --config ${file}` : '';
}

/** What was promised; throws where it is not there in time. */
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
