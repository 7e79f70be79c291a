/** Why a queued job waits, in one sentence for its caller. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { JobError } from './job.js';
import { takesWork } from '../routing/match.js';
import type { Choice } from '../routing/match.js';
import type { Place } from './lane.js';

/** The position of a queued job and why it waits, for people. */
export interface Waiting {
  /** 1 is next; null if it may not run yet (back-off). */
  readonly position: number | null;
  /** One sentence. */
  readonly reason: string;
}

const SOON = 'It is about to start.';

/** For a job that has its slot but is still stored as queued. */
export const ABOUT_TO_START: Waiting = { position: 1, reason: SOON };

/** The fields of a queued job that the sentence needs. */
export interface WaitingJob {
  readonly memberId: string;
  readonly model: string;
  /** Null: it was submitted with the name of a model. */
  readonly alias: string | null;
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Unix ms; null if it may run now. */
  readonly notBefore: number | null;
  /** Why its last attempt failed. */
  readonly error: JobError | null;
}

export interface WaitingInput {
  readonly job: WaitingJob;
  readonly serviceType: ServiceType;
  /** The models that could run it: several under an alias. */
  readonly models: readonly string[];
  /** Providers that can run it and that its caller may use, online or not. */
  readonly candidates: readonly Choice[];
  /** Unix ms at which a provider was last online; null if never. */
  readonly lastServedAt: number | null;
  readonly asyncEnabled: boolean;
  readonly paused: boolean;
  /** Why its API key or its member's quota holds it; null if they do not. */
  readonly held: string | null;
  /** Its place among the runnable jobs for its model; null if it is not runnable. */
  readonly queue: Place | null;
  /** Unix ms. */
  readonly now: number;
}

/** The job waits for the first of these conditions that is true. */
export function waitingFor(input: WaitingInput): Waiting {
  const isHeld = mustRest(input) || input.held !== null;
  const position = isHeld || input.queue === null ? null : input.queue.before + 1;
  return { position, reason: reasonOf(input) };
}

function reasonOf(input: WaitingInput): string {
  return (
    stopped(input) ?? input.held ?? absent(input) ?? closed(input) ?? broken(input) ?? inLine(input)
  );
}

function mustRest({ job, now }: WaitingInput): boolean {
  return job.notBefore !== null && job.notBefore > now;
}

/** No such job would run now, regardless of which providers are online. */
function stopped(input: WaitingInput): string | null {
  const { attempts, maxAttempts, notBefore, error } = input.job;
  if (!input.asyncEnabled) return 'Asynchronous processing is not enabled on this gateway.';
  if (input.paused) return 'The queue is paused by an administrator.';
  if (notBefore === null || !mustRest(input)) return null;
  const until = `It is tried again at ${time(notBefore)}`;
  if (error === null) return `${until}.`;
  return `${until}, after attempt ${attempts} of ${maxAttempts}: ${error.message}`;
}

/** No provider that could run it is online. */
function absent(input: WaitingInput): string | null {
  const { serviceType, candidates, lastServedAt } = input;
  const wanted = `${subjectOf(input)} as ${serviceType}`;
  if (candidates.some(({ online }) => online)) return null;
  if (lastServedAt !== null) {
    return `No provider that serves ${wanted} has been online since ${time(lastServedAt)}.`;
  }
  if (candidates.length === 0) return `No provider that you may use serves ${wanted}.`;
  return `No provider that serves ${wanted} is online.`;
}

/** The online providers take no work, or none of this caller's. */
function closed(input: WaitingInput): string | null {
  const { candidates } = input;
  if (openOnes(input).length > 0) return null;
  const subject = subjectOf(input);
  const online = candidates.filter((one) => one.online);
  // Drained by an administrator or by its owner: the caller waits for the same thing.
  if (online.every(({ draining, accepts }) => draining || accepts === 'none')) {
    return `Every online provider of ${subject} is draining: it takes no new work.`;
  }
  const others = online.filter(({ draining, accepts }) => !draining && accepts !== 'none');
  const spent = others.find(({ grant }) => grant.isOpen && grant.spent)?.grant.spent;
  if (spent !== undefined) return spent.message;
  if (others.some(({ grant }) => !grant.isOpen)) {
    return `${capitalized(subject)} is shared with you at other hours of the day.`;
  }
  return `Every online provider of ${subject} is paused by its owner.`;
}

/** The providers that take work have failed again and again. */
function broken(input: WaitingInput): string | null {
  const open = openOnes(input);
  if (open.some(({ health }) => health !== 'open')) return null;
  const retryInMs = Math.min(...open.map(({ nextProbeMs }) => nextProbeMs));
  return `Every provider of ${subjectOf(input)} failed lately; ${nextTry(retryInMs)}.`;
}

/** A provider could run it, but other jobs come first or hold the slots. */
function inLine(input: WaitingInput): string {
  const { job, queue } = input;
  const open = openOnes(input);
  const name = job.alias ?? job.model;
  const hasFree = open.some(({ freeJobSlots }) => freeJobSlots > 0);
  const before = queue?.before ?? 0;
  if (hasFree && before === 0) return SOON;
  const line = before === 0 ? 'it is the next' : ahead(before, queue?.ownBefore ?? 0);
  const place = hasFree ? capitalized(line) : `${taken(open, name)}; ${line}`;
  const isForeign = open.every(({ grant }) => grant.shareId !== null);
  return `${place}${isForeign ? "; its owner's own jobs go first" : ''}.`;
}

/** No slot is free for a job; slots that are still free are reserved for synchronous calls. */
function taken(open: readonly Choice[], model: string): string {
  const shared = open.filter(({ grant }) => grant.slotsLeft === 0);
  if (shared.length === open.length) return `All that is shared with you of '${model}' is busy`;
  const slots = sum(open.map((one) => one.slots));
  const kept = sum(open.map(({ freeSlots }) => Math.max(0, freeSlots)));
  if (slots === 1) return `The only slot for '${model}' is busy`;
  if (kept === 0) return `All ${slots} slots for '${model}' are busy`;
  const rest = `${slots - kept} ${slots - kept === 1 ? 'is' : 'are'} busy`;
  const reserve = `${kept} ${kept === 1 ? 'is' : 'are'} kept for synchronous calls`;
  return `Of ${slots} slots for '${model}' ${rest} and ${reserve}`;
}

function ahead(before: number, ownBefore: number): string {
  const jobs = before === 1 ? '1 job' : `${before} jobs`;
  if (before === ownBefore) return `it is behind ${jobs} of yours`;
  const come = before === 1 ? 'comes' : 'come';
  return `${jobs} ${come} before it, ${ownBefore === 0 ? 'none' : ownBefore} of them yours`;
}

/** Providers that would take it as soon as a slot is free. */
function openOnes({ candidates }: WaitingInput): readonly Choice[] {
  return candidates.filter(takesWork);
}

/** When a provider with an open breaker gets its next call: a part of a sentence. */
export function nextTry(retryInMs: number): string {
  if (retryInMs === 0) return 'one is being tried again at this moment';
  const seconds = Math.ceil(retryInMs / 1_000);
  return `one is tried again in ${seconds} ${seconds === 1 ? 'second' : 'seconds'}`;
}

/** With the models that an alias stands for, of those that its caller may use. */
function subjectOf({ job, models }: WaitingInput): string {
  if (job.alias === null) return `the model '${job.model}'`;
  return `the alias '${job.alias}' (${models.map((model) => `'${model}'`).join(', ')})`;
}

function capitalized(text: string): string {
  return text.charAt(0).toUpperCase() + text.slice(1);
}

function sum(numbers: readonly number[]): number {
  return numbers.reduce((total, one) => total + one, 0);
}

function time(unixMs: number): string {
  return new Date(unixMs).toISOString();
}

// When the queue counts as stalled (specification, section 4, Queue summary).

/** Longer than any tick takes. */
const STALLED_AFTER_MS = 60_000;

/** `lastTickAt` is null if no dispatcher has ticked yet or none runs: then jobs only wait. */
export function isStalled(queued: number, lastTickAt: number | null, now: number): boolean {
  return queued > 0 && (lastTickAt === null || now - lastTickAt > STALLED_AFTER_MS);
}
