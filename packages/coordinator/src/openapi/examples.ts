/** An example answer of each kind; a linter checks them against their schemas. */
import { ENDPOINT_TEXTS } from './endpoint-texts.js';

const ORIGIN = 'https://gateway.example.org';
const CREATED = 1_767_225_600;
const QUEUED_AT = '2026-01-01T00:00:00.000Z';
const JOB_ID = '01KDVDBP00A1B2C3D4E5F6G7H8';
const BATCH_ID = '01KDVDBP00Z9Y8X7W6V5T4S3R2';
const ASSET_ID = '7nQkZ2hV9sLw4XcT1bYdRf';
const ASSET_URL = `${ORIGIN}/api/inference/assets/${ASSET_ID}/`;

const usage = { prompt_tokens: 14, completion_tokens: 6, total_tokens: 20 };

export const embeddingList = {
  object: 'list',
  data: [{ object: 'embedding', index: 0, embedding: [0.0123, -0.0456, 0.0789] }],
  model: 'nomic-embed-text',
  usage: { prompt_tokens: 4, total_tokens: 4 },
};

export const ranking = {
  object: 'list',
  model: 'bge-reranker-v2-m3',
  results: [
    { index: 1, relevance_score: 0.98 },
    { index: 0, relevance_score: 0.02 },
  ],
  usage: { prompt_tokens: 21, total_tokens: 21 },
};

const SENTENCE = 'Air scatters blue light more.';

export const chatCompletion = {
  id: 'chatcmpl-8f3k2',
  object: 'chat.completion',
  created: CREATED,
  model: 'llama3.1:8b',
  choices: [
    {
      index: 0,
      message: { role: 'assistant', content: SENTENCE },
      finish_reason: 'stop',
    },
  ],
  usage,
};

export const response = {
  id: 'resp_01K742SG00FE94GT04P6F8D2GE',
  object: 'response',
  created_at: CREATED,
  status: 'completed',
  model: 'llama3.1:8b',
  output: [
    {
      id: 'msg_01K742SG00FE94GT04P6F8D2GE_0',
      type: 'message',
      role: 'assistant',
      status: 'completed',
      content: [{ type: 'output_text', text: SENTENCE, annotations: [] }],
    },
  ],
  error: null,
  usage: { input_tokens: 14, output_tokens: 7, total_tokens: 21 },
};

export const message = {
  id: 'msg_01K742SG00FE94GT04P6F8D2GE',
  type: 'message',
  role: 'assistant',
  model: 'llama3.1:8b',
  content: [{ type: 'text', text: SENTENCE }],
  stop_reason: 'end_turn',
  usage: { input_tokens: 14, output_tokens: 7 },
};

export const chatCompletionChunk = {
  id: 'chatcmpl-8f3k2',
  object: 'chat.completion.chunk',
  created: CREATED,
  model: 'llama3.1:8b',
  choices: [{ index: 0, delta: { role: 'assistant', content: 'Air' }, finish_reason: null }],
};

export const completion = {
  id: 'cmpl-8f3k2',
  object: 'text_completion',
  created: CREATED,
  model: 'llama3.1:8b',
  choices: [{ index: 0, text: ' there was a cat', finish_reason: 'length' }],
  usage,
};

export const transcription = {
  text: 'Good morning.',
  language: 'en',
  duration: 1.2,
  usage: { type: 'duration', seconds: 1.2 },
};

export const imageResponse = { created: CREATED, data: [{ url: ASSET_URL }] };

export const model = {
  id: 'llama3.1:8b',
  object: 'model',
  created: CREATED,
  owned_by: 'Anna',
  service_type: 'llm',
  input_modalities: ['text'],
  output_modalities: ['text'],
  supported_features: ['tools'],
  context_length: 32_768,
};

export const asset = {
  id: ASSET_ID,
  object: 'asset',
  url: ASSET_URL,
  content_type: 'image/png',
  bytes: 1_482_113,
  sha256: '9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08',
  seconds: null,
  model: 'sdxl',
  endpoint: '/v1/images/generations',
  created: CREATED,
  expires_at: CREATED + 30 * 86_400,
};

export const queuedJob = {
  id: JOB_ID,
  object: 'service.job',
  status: 'QUEUED',
  inference_type: 'IMAGE',
  endpoint: '/v1/images/generations',
  model: 'sdxl',
  created: CREATED,
  queued_at: QUEUED_AT,
  started_at: null,
  finished_at: null,
  attempts: 0,
  max_attempts: 3,
  batch_id: null,
  error: null,
  position: 2,
  waiting_reason: 'All slots for sdxl are busy.',
};

const { position: _position, waiting_reason: _reason, ...submitted } = queuedJob;

export const finishedJob = {
  ...submitted,
  status: 'PROCESSED',
  started_at: '2026-01-01T00:00:03.000Z',
  finished_at: '2026-01-01T00:00:21.000Z',
  attempts: 1,
  result_url: ASSET_URL,
  assets: [{ id: ASSET_ID, url: ASSET_URL, content_type: 'image/png', bytes: 1_482_113 }],
};

export const jobCancellation = { id: JOB_ID, status: 'CANCELED', canceled: true };

export const batchRequest = {
  label: 'evening',
  requests: [
    { endpoint: '/v1/images/generations', body: ENDPOINT_TEXTS.images.example },
    { endpoint: '/v1/audio/speech', body: ENDPOINT_TEXTS.speech.example },
  ],
  webhook: { url: 'https://example.org/hook', secret: 'whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw' },
};

export const batch = {
  id: BATCH_ID,
  object: 'service.batch',
  label: 'evening',
  status: 'PENDING',
  total: 2,
  queued: 2,
  processing: 0,
  processed: 0,
  failed: 0,
  canceled: 0,
  created: CREATED,
};

const FILE_ID = 'file-4fGh7KpQ2xWz9LmN3vBt8R';

export const file = {
  id: FILE_ID,
  object: 'file',
  bytes: 1_482_113,
  created_at: CREATED,
  expires_at: CREATED + 2_592_000,
  filename: 'night.jsonl',
  purpose: 'batch',
  status: 'processed',
};

export const fileBatchRequest = {
  input_file_id: FILE_ID,
  endpoint: '/v1/chat/completions',
  completion_window: '24h',
  metadata: { run: 'nightly' },
};

export const fileBatch = {
  id: BATCH_ID,
  object: 'batch',
  endpoint: '/v1/chat/completions',
  errors: null,
  input_file_id: FILE_ID,
  completion_window: '24h',
  status: 'in_progress',
  output_file_id: null,
  error_file_id: null,
  created_at: CREATED,
  in_progress_at: CREATED,
  expires_at: CREATED + 86_400,
  finalizing_at: null,
  completed_at: null,
  failed_at: null,
  expired_at: null,
  cancelling_at: null,
  cancelled_at: null,
  request_counts: { total: 50_000, completed: 0, failed: 0 },
  metadata: { run: 'nightly' },
};

export const finishedBatch = { ...batch, status: 'DONE', queued: 0, processed: 2 };

export const batchWithJobs = {
  ...batch,
  jobs: [
    { id: JOB_ID, status: 'QUEUED', inference_type: 'IMAGE', index: 0 },
    { id: '01KDVDBP00A1B2C3D4E5F6G7H9', status: 'QUEUED', inference_type: 'TTS', index: 1 },
  ],
};

export const queueSummary = {
  async_enabled: true,
  worker_stalled: false,
  paused: false,
  queued: 3,
  processing: 1,
  oldest_queued_seconds: 12.5,
  last_tick_at: QUEUED_AT,
  capacity: { slots: 1, free_slots: 0, providers_online: 1 },
  by_model: [
    {
      model: 'sdxl',
      service_type: 'image',
      queued: 3,
      running: 1,
      slots: 1,
      free_slots: 0,
      oldest_queued_seconds: 12.5,
      providers_online: 1,
    },
  ],
};

export const FINISHED_AT = finishedJob.finished_at;
