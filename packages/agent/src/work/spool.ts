/**
 * The folder of recorded answers. Finished answers of an earlier process are restored; unfinished
 * ones are removed, because they cannot be continued.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { randomId } from '@inference-gateway/shared/ids';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { decodeAgentMessage } from '@inference-gateway/shared/protocol/messages';
import * as z from 'zod';
import { AnswerBytes, AnswerLog, DATA_ENDING, META_ENDING, SpoolFile } from './answer-log.js';
import type { AnswerMessage, Mark } from './answer-log.js';
import { MEMORY_MAX_BYTES, SPOOL_MAX_BYTES, SpoolRoom } from './spool-room.js';

/** An answer that was not fetched is dropped after this time. */
export const KEPT_MS = 7 * 24 * 3_600_000;

export interface SpoolOptions {
  /** Null: answers stay in memory and end with the process. */
  readonly folder: string | null;
  /** Unix ms. */
  readonly now: () => number;
  readonly logger: Logger;
  readonly maxBytes?: number;
}

interface FoundAnswer {
  readonly facts: JobFacts;
  readonly log: AnswerLog;
}

export class Spool {
  readonly #now: () => number;
  readonly #logger: Logger;
  readonly #room: SpoolRoom;
  readonly #memory: SpoolRoom;
  #folder: string | null;

  constructor({ folder, now, logger, maxBytes = SPOOL_MAX_BYTES }: SpoolOptions) {
    this.#folder = folder;
    this.#now = now;
    this.#logger = logger;
    this.#room = new SpoolRoom(maxBytes);
    this.#memory = new SpoolRoom(Math.min(maxBytes, MEMORY_MAX_BYTES));
  }

  newLog(): AnswerLog {
    return new AnswerLog(() => this.#newBytes());
  }

  /** The whole answers of earlier processes. Without a writable folder they are kept in memory. */
  async restore(): Promise<readonly FoundAnswer[]> {
    if (this.#folder === null) return [];
    try {
      return await this.#read(this.#folder);
    } catch (error) {
      const { message } = error as Error;
      this.#logger.error({ reason: message }, 'no spool: answers end with this process');
      this.#folder = null;
      return [];
    }
  }

  async #read(folder: string): Promise<readonly FoundAnswer[]> {
    await mkdir(folder, { recursive: true, mode: 0o700 });
    await chmod(folder, 0o700);
    const names = await readdir(folder);
    const found: FoundAnswer[] = [];
    const kept = new Set<string>();
    for (const name of names.filter((one) => one.endsWith(META_ENDING))) {
      const stem = name.slice(0, -META_ENDING.length);
      const answer = await this.#readAnswer(join(folder, stem));
      if (answer === null) continue;
      found.push(answer);
      kept.add(stem + META_ENDING).add(stem + DATA_ENDING);
    }
    const swept = names.filter((name) => isOfSpool(name) && !kept.has(name));
    // A file that cannot be removed does no harm: removal is tried again at the next start.
    for (const name of swept) await rm(join(folder, name)).catch(() => undefined);
    return found;
  }

  /** Null if it is damaged, or too old. */
  async #readAnswer(stem: string): Promise<FoundAnswer | null> {
    try {
      const answer = decodeSpoolMeta(await readFile(stem + META_ENDING, 'utf8'));
      const fault = await faultOf(stem + DATA_ENDING, answer, this.#now());
      if (answer !== null && fault === null) return this.#restored(stem, answer);
      this.#logger.warn({ reason: fault, claim: answer?.facts.claimId }, 'spooled answer dropped');
    } catch (error) {
      this.#logger.warn({ reason: (error as Error).message }, 'spooled answer dropped');
    }
    return null;
  }

  #restored(stem: string, { facts, marks, ...found }: SpooledAnswer): FoundAnswer {
    const bytes = new AnswerBytes(new SpoolFile(stem, true), this.#room, found);
    return { facts, log: new AnswerLog(() => this.#newBytes(), { bytes, marks }) };
  }

  /** File names are the agent's own: the coordinator chooses the claims' names. */
  #newBytes(): AnswerBytes {
    if (this.#folder === null) return new AnswerBytes(null, this.#memory);
    return new AnswerBytes(new SpoolFile(join(this.#folder, randomId())), this.#room);
  }
}

/** Ignores the owner's other files, also behind a link. */
function isOfSpool(name: string): boolean {
  return OWN_ENDINGS.some((ending) => name.endsWith(ending));
}

const OWN_ENDINGS = [DATA_ENDING, META_ENDING, `${META_ENDING}.tmp`];

async function faultOf(
  dataFile: string,
  answer: SpooledAnswer | null,
  now: number,
): Promise<string | null> {
  if (answer === null) return 'what is written of it makes no sense';
  if (now - answer.keptAt > KEPT_MS) return 'nobody fetched it for 7 days';
  const hash = createHash('sha256');
  await pipeline(createReadStream(dataFile), hash);
  return hash.digest('hex') === answer.sha256 ? null : 'its hash does not fit';
}

// The metadata beside a spooled answer, for the next process.

/** The job of an answer. */
export interface JobFacts {
  readonly jobId: string;
  readonly claimId: string;
  readonly model: string;
  readonly endpoint: string;
  /** The caller's public name. */
  readonly caller: string;
  /** Whether the caller owns this machine. */
  readonly own: boolean;
  /** Unix ms at which the run began. */
  readonly since: number;
}

interface SpooledAnswer {
  readonly facts: JobFacts;
  readonly bytes: number;
  /** Hash of the bytes only. */
  readonly sha256: string;
  /** Unix ms at which it was kept. */
  readonly keptAt: number;
  readonly marks: Mark[];
}

const text = z.string().min(1);

const count = z.int().min(0);

const answerMessage = z.unknown().transform((value, context): AnswerMessage => {
  const message = decodeMessage(value);
  if (message !== null) return message;
  context.addIssue('no message of an answer');
  return z.NEVER;
});

const spooled = z.object({
  job_id: text,
  claim_id: text,
  model: text,
  endpoint: text,
  caller: text,
  own: z.boolean(),
  since: count,
  kept_at: count,
  bytes: count,
  sha256: z.string().length(64),
  marks: z.array(z.object({ at: count, message: answerMessage })),
});

export function spoolMeta(facts: JobFacts, log: AnswerLog, now: number): string {
  const { length, sha256, marks } = log;
  const { jobId, claimId, model, endpoint, caller, own, since } = facts;
  const kept = { bytes: length, sha256, kept_at: now, marks };
  const meta = { job_id: jobId, claim_id: claimId, model, endpoint, caller, own, since, ...kept };
  return JSON.stringify(meta);
}

/** Null if the text is not what `spoolMeta` wrote for a whole answer. */
function decodeSpoolMeta(written: string): SpooledAnswer | null {
  const parsed = spooled.safeParse(parseJson(written));
  if (!parsed.success) return null;
  const { job_id: jobId, claim_id: claimId, model, endpoint, caller, own, since } = parsed.data;
  const { bytes, sha256, kept_at: keptAt, marks } = parsed.data;
  const last = marks.at(-1)?.message.t;
  if (last !== 'END' && last !== 'RESET') return null;
  const facts = { jobId, claimId, model, endpoint, caller, own, since };
  return { facts, bytes, sha256, keptAt, marks };
}

function parseJson(written: string): unknown {
  try {
    return JSON.parse(written);
  } catch {
    return null;
  }
}

/** Uses the link's own decoder, because the message will be sent on the link. */
function decodeMessage(value: unknown): AnswerMessage | null {
  if (typeof value !== 'object' || value === null) return null;
  const decoded = decodeAgentMessage(JSON.stringify({ ...value, stream: 1 }));
  if (decoded.kind !== 'message') return null;
  const { message } = decoded;
  if (!isOfAnswer(message)) return null;
  const { stream: _, ...unaddressed } = message;
  return unaddressed;
}

type Addressed = AnswerMessage & { readonly stream: number };

function isOfAnswer(message: { readonly t: string }): message is Addressed {
  return ['HEAD', 'PART', 'END', 'RESET'].includes(message.t);
}
