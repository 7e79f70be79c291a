import { BENCH_MODEL, WHEN } from './job.js';
import type { StreamWish, Target } from './job.js';
import { postForm, postJson } from './post.js';

const PATH = '/v1/chat/completions';
const QUESTION = 'Say one sentence about a fox and a dog.';

export function jsonRequest(target: Target): Buffer {
  return postJson(target, PATH, chat(QUESTION));
}

/** The same to another model. */
export function chatRequest(target: Target, model: string): Buffer {
  return postJson(target, PATH, { ...chat(QUESTION), model });
}

/** The same as a job. */
export function submission(target: Target): Buffer {
  return postJson(target, PATH, { ...chat(QUESTION), async: true });
}

/** A job whose result is the time at which the mock had it. */
export function stampedSubmission(target: Target): Buffer {
  return postJson(target, PATH, { ...chat(WHEN), async: true });
}

export function batch(target: Target, items: number): Buffer {
  const item = { endpoint: PATH, body: chat(QUESTION) };
  return postJson(target, '/v1/batches', { requests: Array.from({ length: items }, () => item) });
}

/** A file of so many requests. */
export async function fileUpload(target: Target, lines: number): Promise<Buffer> {
  const line = { method: 'POST', url: PATH, body: chat(QUESTION) };
  const texts = Array.from({ length: lines }, (_, i) => {
    return `${JSON.stringify({ custom_id: `line-${i}`, ...line })}\n`;
  });
  const form = new FormData();
  form.append('purpose', 'batch');
  form.append('file', new File(texts, 'bench.jsonl'));
  return postForm(target, '/v1/files', form);
}

export function fileBatch(target: Target, fileId: string): Buffer {
  const asked = { input_file_id: fileId, endpoint: PATH, completion_window: '24h' };
  return postJson(target, '/v1/batches', asked);
}

export function streamRequest(target: Target, { chunks, intervalMs }: StreamWish): Buffer {
  const wish = JSON.stringify({ chunks, intervalMs });
  const model = BENCH_MODEL;
  switch (target.api) {
    case 'responses':
      return postJson(target, '/v1/responses', { model, input: wish, stream: true });
    case 'messages':
      return postJson(target, '/v1/messages', { ...chat(wish), max_tokens: 1_000, stream: true });
    default:
      return postJson(target, PATH, { ...chat(wish), stream: true });
  }
}

function chat(content: string): object {
  return { model: BENCH_MODEL, messages: [{ role: 'user', content }] };
}
