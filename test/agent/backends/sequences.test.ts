import type { LocalCall } from '@inference-gateway/agent/backends/backend';
import { callInSequences } from '@inference-gateway/agent/backends/sequences';
import { expect, test } from 'vitest';

const MODEL = { id: 'tiny', served_name: 'tiny' } as LocalCall['model'];

test('the body of each answer is made when its turn comes', async () => {
  let copies = 0;
  const fields = { model: 'tiny', n: 1_024, messages: [{ role: 'user', content: 'x' }] };
  const body = new Proxy<Record<string, unknown>>(fields, {
    ownKeys: (target) => {
      copies += 1;
      return Reflect.ownKeys(target);
    },
  });
  const bodies: unknown[] = [];
  const backend = {
    call: ({ body: asked }: LocalCall) => {
      bodies.push(asked);
      return Promise.reject(new Error('the local server is gone'));
    },
  };
  const { signal } = new AbortController();
  const call = {
    endpoint: 'chat',
    model: MODEL,
    body,
    uploads: [],
    requestId: 'r',
    signal,
  } as const;
  await expect(callInSequences(backend, call, 2)).rejects.toThrow('the local server is gone');
  expect(bodies).toHaveLength(2);
  expect(copies).toBe(1);
});
