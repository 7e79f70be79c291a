/** What the page calls the API's codes. Whatever shows a code to people takes its label here. */
import type { InferenceType, ServiceType } from '@inference-gateway/shared/endpoints';
import { leftText, pastText } from '@inference-gateway/shared/time-text';
import { clockText } from './dates.js';
import type { AdminResult } from '../../api/commands.js';

/** Of jobs, of batches, of batches that are read from a file, and of requests. */
const STATUSES: Readonly<Record<string, string>> = {
  QUEUED: 'Queued',
  PROCESSING: 'Running',
  PROCESSED: 'Done',
  FAILED: 'Failed',
  CANCELED: 'Canceled',
  // Of batches. One whose jobs all wait is as queued as they are.
  PENDING: 'Queued',
  DONE: 'Done',
  // Of batches that are read from a file.
  VALIDATING: 'Queued',
  IN_PROGRESS: 'Running',
  FINALIZING: 'Running',
  COMPLETED: 'Done',
  EXPIRED: 'Expired',
  CANCELLING: 'Being canceled',
  CANCELLED: 'Canceled',
  // Of requests.
  OK: 'Done',
};

const SERVICES: Readonly<Record<ServiceType, string>> = {
  llm: 'Chat',
  image: 'Image',
  tts: 'Speech',
  stt: 'Transcription',
  embedding: 'Embedding',
  rerank: 'Reranking',
  video: 'Video',
  music: 'Music',
};

const JOBS: Readonly<Record<InferenceType, string>> = {
  LLM: SERVICES.llm,
  IMAGE: SERVICES.image,
  TTS: SERVICES.tts,
  VIDEO: SERVICES.video,
  MUSIC: SERVICES.music,
  EMBEDDING: SERVICES.embedding,
  RERANK: SERVICES.rerank,
};

const TYPES: Readonly<Record<string, string>> = { ...SERVICES, ...JOBS };

type LinkEndReason = AdminResult<'provider.show'>['uptime']['disconnections'][number]['reason'];

/** Why a provider went offline. */
const LINK_ENDS: Readonly<Record<LinkEndReason, string>> = {
  agent_stopped: 'The agent was stopped',
  connection_lost: 'The connection was lost',
  no_heartbeat: 'The machine no longer answered',
  link_error: 'The agent and the coordinator did not understand each other',
  replaced: 'The agent connected anew',
  moved: 'The agent moved to another coordinator',
  kicked: 'An admin disconnected it',
  owner_disabled: 'Its owner’s account was disabled',
  revoked: 'Its token was revoked',
  coordinator_stopped: 'The coordinator was stopped',
  coordinator_crashed: 'The coordinator ended unexpectedly',
};

export function linkEndLabel(reason: LinkEndReason): string {
  return LINK_ENDS[reason];
}

/** `Running` of `PROCESSING`, in either case. A status of a newer coordinator is its own label. */
export function statusLabel(status: string): string {
  return STATUSES[status.toUpperCase()] ?? status;
}

/** `Chat` of the service type `llm` and of the inference type `LLM`. */
export function typeLabel(type: string): string {
  return TYPES[type] ?? type;
}

/** In a sentence of the coordinator: codes of types as labels, and times counted from `now`. */
export function toldText(text: string, now: number): string {
  return text
    .replaceAll(TYPES_TOLD, (type) => typeLabel(type))
    .replaceAll(AT, (_, stamp: string) => atText(Date.parse(stamp), now))
    .replaceAll(SINCE, (_, stamp: string) => `for ${pastText(now - Date.parse(stamp))}`)
    .replaceAll(STAMP, (stamp) => clockText(Date.parse(stamp), now));
}

const ANY = Object.keys(SERVICES).join('|');

/** In `the model 'm' as llm`, `a model of the alias 'a' as llm`, and `No llm model is online`. */
const TYPES_TOLD = new RegExp(`(?<=' as )(?:${ANY})\\b|(?<=\\bNo )(?:${ANY})(?= model\\b)`, 'g');

const STAMP = /\d{4}-\d{2}-\d{2}T\d{2}:\d{2}:\d{2}(?:\.\d+)?Z/g;
const AT = new RegExp(`\\bat (${STAMP.source})`, 'g');
const SINCE = new RegExp(`\\bsince (${STAMP.source})`, 'g');

function atText(at: number, now: number): string {
  return at > now ? `in ${leftText(at - now)}` : `${pastText(now - at)} ago`;
}
