import { BENCH_MODEL } from './job.js';
import type { StreamWish, Target } from './job.js';
import { postJson } from './post.js';

const PATH = '/v1/chat/completions';

export function jsonRequest(target: Target): Buffer {
  return postJson(target, PATH, chat('Say one sentence about a fox and a dog.'));
}

export function streamRequest(target: Target, { chunks, intervalMs }: StreamWish): Buffer {
  const wish = JSON.stringify({ chunks, intervalMs });
  return postJson(target, PATH, { ...chat(wish), stream: true });
}

function chat(content: string): object {
  return { model: BENCH_MODEL, messages: [{ role: 'user', content }] };
}
