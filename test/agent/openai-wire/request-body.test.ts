import type { LocalCall } from '@inference-gateway/agent/backends/backend';
import { checkBody } from '@inference-gateway/agent/openai-wire/checked-body';
import type { CheckedBody } from '@inference-gateway/agent/openai-wire/checked-body';
import { shapeRequest } from '@inference-gateway/agent/openai-wire/request-body';
import { describe, expect, test } from 'vitest';

function check(body: Record<string, unknown>): CheckedBody {
  return checkBody({ model: 'mine', messages: [], ...body }, { endpoint: 'chat' });
}

describe('a request', () => {
  const model = {
    id: 'mine',
    served_name: '/models/x.gguf',
    context_length: null,
    input_modalities: ['text'],
    output_modalities: ['text'],
    supported_features: [],
    loaded: null,
  };
  const callWith = (body: Record<string, unknown>): LocalCall => ({
    endpoint: 'chat',
    model,
    body: { model: 'mine', messages: [], ...body },
    uploads: [],
    requestId: 'req_1',
    signal: new AbortController().signal,
  });
  const shape = (body: Record<string, unknown>, drops: readonly string[] = []) => {
    const checked = check(body);
    if (checked.kind === 'refused') throw new Error(checked.answer.json);
    const shaped = shapeRequest(callWith(checked.body), new Set(drops));
    return { sent: JSON.parse(String(shaped.body)) as Record<string, unknown>, form: shaped.form };
  };

  test('names the model as the local server does and keeps unknown fields', () => {
    const { sent, form } = shape({ top_k: 3 });
    expect(sent).toEqual({ model: '/models/x.gguf', messages: [], top_k: 3 });
    const promptTokens = expect.any(Function) as unknown;
    expect(form).toEqual({
      model: 'mine',
      stream: false,
      usage: false,
      promptTokens,
    });
  });

  test('loses the fields of the deny-list in any spelling that Go takes for the same', () => {
    const fields = { Priority: 1, 'TA\u017f\u212a': 2, seed: 5 };
    expect(Object.keys(shape(fields, ['priority', 'tasK']).sent)).toEqual([
      'model',
      'messages',
      'seed',
    ]);
  });

  test('loses the fields of the deny-list', () => {
    expect(shape({ id_slot: 1, lora: [], seed: 5 }, ['id_slot', 'lora']).sent).toEqual({
      model: '/models/x.gguf',
      messages: [],
      seed: 5,
    });
  });

  test('brings no template of its own, nor says how one is read', () => {
    const given = { enable_thinking: false, chat_template: '{{ 9 ** 9 }}', tokenize: true };
    expect(shape({ chat_template_kwargs: given }).sent).toMatchObject({
      chat_template_kwargs: { enable_thinking: false },
    });
    const { sent } = shape({ chat_template_kwargs: given });
    expect(Object.keys(sent['chat_template_kwargs'] as object)).toEqual(['enable_thinking']);
    expect(shape({ chat_template_kwargs: 'x' }).sent).toHaveProperty('chat_template_kwargs', 'x');
  });

  test('always asks a stream for usage, and remembers what the caller asked', () => {
    const silent = shape({ stream: true, stream_options: { x: 1, include_usage: false } });
    expect(silent.sent['stream_options']).toEqual({ x: 1, include_usage: true });
    expect(silent.form).toMatchObject({ stream: true, usage: false });
    const asked = shape({ stream: true, stream_options: { include_usage: true } });
    expect(asked.form).toMatchObject({ stream: true, usage: true });
  });

  test('has no stream options where it does not stream', () => {
    expect(shape({ stream_options: { include_usage: true } }).sent).not.toHaveProperty(
      'stream_options',
    );
  });

  test('is refused with media that the local server would fetch', () => {
    const content = [{ type: 'image_url', image_url: { url: 'http://192.168.0.1/' } }];
    const checked = check({ messages: [{ role: 'user', content }] });
    expect(checked).toMatchObject({ kind: 'refused', answer: { status: 400 } });
    expect(checked.kind === 'refused' && JSON.parse(checked.answer.json)).toMatchObject({
      error: { code: 'unsupported_value', param: 'messages[0].content[0].image_url.url' },
    });
  });
});
