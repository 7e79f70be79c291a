/** What the page calls the API's codes. Whatever shows a code to people takes its label here. */
import type { InferenceType, ServiceType } from '@inference-gateway/shared/endpoints';

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

/** `Running` of `PROCESSING`, in either case. A status of a newer coordinator is its own label. */
export function statusLabel(status: string): string {
  return STATUSES[status.toUpperCase()] ?? status;
}

/** `Chat` of the service type `llm` and of the inference type `LLM`. */
export function typeLabel(type: string): string {
  return TYPES[type] ?? type;
}
