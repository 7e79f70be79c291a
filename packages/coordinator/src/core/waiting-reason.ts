/** Why a queued job waits, in one sentence for its caller. */
import type { ServiceType } from '@inference-gateway/shared/endpoints';
import type { JobError } from './job.js';
import type { Candidate } from './match.js';

/** Where a queued job stands, for people. */
export interface Waiting {
  /** 1 is the next; null while it may not run yet (a back-off). */
  readonly position: number | null;
  /** One sentence. */
  readonly reason: string;
}

const SOON = 'It is about to start.';

/** Of a job that has its slot, while nobody else sees that yet. */
export const ABOUT_TO_START: Waiting = { position: 1, reason: SOON };

/** A queued job, as far as the sentence needs it. */
export interface WaitingJob {
  readonly memberId: string;
  readonly model: string;
  readonly attempts: number;
  readonly maxAttempts: number;
  /** Unix ms; null where it may run now. */
  readonly notBefore: number | null;
  /** Why its last attempt failed. */
  readonly error: JobError | null;
}

export interface WaitingInput {
  readonly job: WaitingJob;
  readonly serviceType: ServiceType;
  /** Those able to run it that its caller may use, online or not. */
  readonly candidates: readonly Candidate[];
  readonly asyncEnabled: boolean;
  readonly paused: boolean;
  /** Of the runnable jobs for its model; null where it is not runnable. */
  readonly queue: { readonly before: number; readonly ownBefore: number } | null;
  /** Unix ms. */
  readonly now: number;
}

/** The first of these that is true is what the job waits for. */
export function waitingFor(input: WaitingInput): Waiting {
  const position = mustRest(input) || input.queue === null ? null : input.queue.before + 1;
  return { position, reason: stopped(input) ?? absent(input) ?? closed(input) ?? inLine(input) };
}

function mustRest({ job, now }: WaitingInput): boolean {
  return job.notBefore !== null && job.notBefore > now;
}

/** No job like it would run now, whoever is online. */
function stopped(input: WaitingInput): string | null {
  const { attempts, maxAttempts, notBefore, error } = input.job;
  if (!input.asyncEnabled) return 'Asynchronous processing is not enabled on this gateway.';
  if (input.paused) return 'The queue is paused by an administrator.';
  if (notBefore === null || !mustRest(input)) return null;
  const until = `It is tried again at ${time(notBefore)}`;
  if (error === null) return `${until}.`;
  return `${until}, after attempt ${attempts} of ${maxAttempts}: ${error.message}`;
}

/** Nobody who could run it is there. */
function absent({ job, serviceType, candidates }: WaitingInput): string | null {
  const wanted = `the model '${job.model}' as ${serviceType}`;
  if (candidates.length === 0) return `No provider of yours has ever served ${wanted}.`;
  if (candidates.some(({ online }) => online)) return null;
  const seen = candidates.flatMap(({ lastSeenAt }) => lastSeenAt ?? []);
  if (seen.length === 0) return `No provider that serves ${wanted} is online.`;
  return `No provider that serves ${wanted} has been online since ${time(Math.max(...seen))}.`;
}

/** Who is online takes no work, or none of this caller's. */
function closed(input: WaitingInput): string | null {
  const { job, candidates } = input;
  if (openOnes(input).length > 0) return null;
  const online = candidates.filter((one) => one.online);
  // Its administrator drains it, or its owner: what the caller waits for is the same.
  if (online.every(({ draining, accepts }) => draining || accepts === 'none')) {
    return `Every online provider of the model '${job.model}' is draining: it takes no new work.`;
  }
  return `Every online provider of the model '${job.model}' is paused by its owner.`;
}

/** Somebody could run it, and others are before it or have the slots. */
function inLine(input: WaitingInput): string {
  const { job, queue } = input;
  const open = openOnes(input);
  const hasFree = open.some(({ freeJobSlots }) => freeJobSlots > 0);
  const before = queue?.before ?? 0;
  if (hasFree && before === 0) return SOON;
  const line = before === 0 ? 'it is the next' : ahead(before, queue?.ownBefore ?? 0);
  const place = hasFree ? capitalized(line) : `${taken(open, job.model)}; ${line}`;
  const isForeign = open.every(({ ownerId }) => ownerId !== job.memberId);
  return `${place}${isForeign ? "; its owner's own jobs go first" : ''}.`;
}

/** No slot is free for a job; what is free all the same is kept for synchronous calls. */
function taken(open: readonly Candidate[], model: string): string {
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

/** Those that would take it as soon as they have a slot. */
function openOnes({ job, candidates }: WaitingInput): readonly Candidate[] {
  return candidates.filter(({ online, draining, accepts, ownerId }) => {
    const isOwn = ownerId === job.memberId;
    return online && !draining && (accepts === 'all' || (accepts === 'own' && isOwn));
  });
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
