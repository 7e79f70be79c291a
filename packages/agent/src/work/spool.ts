/**
 * The folder of recorded answers. What an earlier process finished is found again; what it had not
 * finished is swept, because nothing can go on with it.
 */
import { createHash } from 'node:crypto';
import { createReadStream } from 'node:fs';
import { chmod, mkdir, readFile, readdir, rm } from 'node:fs/promises';
import { join } from 'node:path';
import { pipeline } from 'node:stream/promises';
import { randomId } from '@inference-gateway/shared/ids';
import type { Logger } from '@inference-gateway/shared/program/logger';
import { AnswerBytes } from './answer-bytes.js';
import { AnswerLog } from './answer-log.js';
import { DATA_ENDING, META_ENDING, SpoolFile } from './spool-file.js';
import { decodeSpoolMeta } from './spool-meta.js';
import type { JobFacts, SpooledAnswer } from './spool-meta.js';
import { MEMORY_MAX_BYTES, SPOOL_MAX_BYTES, SpoolRoom } from './spool-room.js';

/** An answer that nobody has fetched so long is given up. */
export const KEPT_MS = 7 * 24 * 3_600_000;

export interface SpoolOptions {
  /** Null: answers stay in memory and end with the process. */
  readonly folder: string | null;
  readonly logger: Logger;
  readonly maxBytes?: number;
}

interface FoundAnswer {
  readonly facts: JobFacts;
  readonly log: AnswerLog;
}

export class Spool {
  readonly #logger: Logger;
  readonly #room: SpoolRoom;
  readonly #memory: SpoolRoom;
  #folder: string | null;

  constructor({ folder, logger, maxBytes = SPOOL_MAX_BYTES }: SpoolOptions) {
    this.#folder = folder;
    this.#logger = logger;
    this.#room = new SpoolRoom(maxBytes);
    this.#memory = new SpoolRoom(Math.min(maxBytes, MEMORY_MAX_BYTES));
  }

  newLog(): AnswerLog {
    return new AnswerLog(() => this.#newBytes());
  }

  /** The whole answers of earlier processes. Without a folder to write to, memory must do. */
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
    // What cannot be removed does no harm: it is tried again at the next start.
    for (const name of swept) await rm(join(folder, name)).catch(() => undefined);
    return found;
  }

  /** Null where it is damaged, or too old. */
  async #readAnswer(stem: string): Promise<FoundAnswer | null> {
    try {
      const answer = decodeSpoolMeta(await readFile(stem + META_ENDING, 'utf8'));
      const fault = await faultOf(stem + DATA_ENDING, answer);
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

  /** Claims are named by the coordinator, files are not. */
  #newBytes(): AnswerBytes {
    if (this.#folder === null) return new AnswerBytes(null, this.#memory);
    return new AnswerBytes(new SpoolFile(join(this.#folder, randomId())), this.#room);
  }
}

/** Whatever else the owner has put there, or a link of the owner's leads to, is left alone. */
function isOfSpool(name: string): boolean {
  return OWN_ENDINGS.some((ending) => name.endsWith(ending));
}

const OWN_ENDINGS = [DATA_ENDING, META_ENDING, `${META_ENDING}.tmp`];

async function faultOf(dataFile: string, answer: SpooledAnswer | null): Promise<string | null> {
  if (answer === null) return 'what is written of it makes no sense';
  if (Date.now() - answer.keptAt > KEPT_MS) return 'nobody fetched it for 7 days';
  const hash = createHash('sha256');
  await pipeline(createReadStream(dataFile), hash);
  return hash.digest('hex') === answer.sha256 ? null : 'its hash does not fit';
}
