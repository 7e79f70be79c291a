/** Chat completions as the objects of OpenAI's Responses API. */
import type { ApiError } from '../../errors.js';
import type { AnswerSubject } from '../translation.js';
import { CustomInput } from './custom-input.js';
import { ToolNames } from './tools.js';

export type Json = Readonly<Record<string, unknown>>;

/** An item of a response, when its turn has ended. */
export type Item = Json & { readonly id: string; readonly type: string };

export function toAnswer(completion: Json, subject: AnswerSubject): Json {
  const [choice] = listOf(completion['choices']);
  const { message: written, finish_reason: reason } = objectOf(choice);
  const message = objectOf(written);
  const items = itemsOf(message, subject);
  return responseOf(subject, { ...endOf(reason), output: items, usage: completion['usage'] });
}

function itemsOf(message: Json, { id, context }: AnswerSubject): readonly Item[] {
  const items: Item[] = [];
  const names = ToolNames.from(context);
  const reasoning = reasoningOf(message);
  const calls = listOf(message['tool_calls']);
  const text = textOf(message['content']);
  const refusal = textOf(message['refusal']);
  if (reasoning !== '') items.push(reasoningItem(itemId('rs', id, items.length), reasoning));
  if (text !== '' || refusal !== '' || calls.length === 0) {
    items.push(messageItem(itemId('msg', id, items.length), { text, refusal }));
  }
  for (const call of calls) {
    const written = callOf(call);
    const { name, namespace, isCustom } = names.toolOf(written.name);
    const at = itemId(isCustom ? 'ctc' : 'fc', id, items.length);
    const tool = { ...written, name, namespace };
    items.push(isCustom ? customItem(at, tool) : functionItem(at, tool));
  }
  return items;
}

/** A call of a tool; `arguments` as the model wrote them. */
export interface WrittenCall {
  readonly id: string;
  readonly name: string;
  readonly arguments: string;
}

/** A call in a chat completion, or a part of one in a chunk. */
export function callOf(call: unknown): WrittenCall {
  const { id, function: called } = objectOf(call);
  const { name, arguments: written } = objectOf(called);
  const text = typeof written === 'string' ? written : JSON.stringify(written ?? '');
  return { id: textOf(id), name: textOf(name), arguments: written === undefined ? '' : text };
}

interface ToolCall extends WrittenCall {
  readonly namespace: string | null;
}

export function itemId(prefix: 'rs' | 'msg' | 'fc' | 'ctc', id: string, index: number): string {
  return `${prefix}_${id}_${index}`;
}

export function reasoningItem(id: string, text: string): Item {
  const content = [{ type: 'reasoning_text', text }];
  return { id, type: 'reasoning', status: 'completed', summary: [], content };
}

interface Said {
  readonly text: string;
  readonly refusal: string;
}

export function messageItem(id: string, { text, refusal }: Said): Item {
  const content = [
    ...(text !== '' || refusal === '' ? [textPart(text)] : []),
    ...(refusal === '' ? [] : [{ type: 'refusal', refusal }]),
  ];
  return { id, type: 'message', role: 'assistant', status: 'completed', content };
}

export function textPart(text: string): Json {
  return { type: 'output_text', text, annotations: [], logprobs: [] };
}

export function functionItem(id: string, call: ToolCall): Item {
  const { id: callId, name, namespace, arguments: written } = call;
  return {
    id,
    type: 'function_call',
    status: 'completed',
    call_id: callId,
    name,
    ...(namespace !== null && { namespace }),
    arguments: written,
  };
}

export function customItem(id: string, { id: callId, name, arguments: written }: ToolCall): Item {
  const decoder = new CustomInput();
  const input = decoder.push(written) + decoder.end();
  return { id, type: 'custom_tool_call', status: 'completed', call_id: callId, name, input };
}

/** The thinking of a model, under the names that local servers have for it. */
export function reasoningOf(message: Json): string {
  return textOf(message['reasoning_content']) || textOf(message['reasoning']);
}

interface End {
  readonly status: 'completed' | 'incomplete';
  readonly incomplete_details: { readonly reason: string } | null;
}

/** By the finish reason of the chat. */
export function endOf(reason: unknown): End {
  const cut = typeof reason === 'string' ? CUT[reason] : undefined;
  if (cut === undefined) return { status: 'completed', incomplete_details: null };
  return { status: 'incomplete', incomplete_details: { reason: cut } };
}

const CUT: Readonly<Record<string, string>> = {
  length: 'max_output_tokens',
  content_filter: 'content_filter',
};

interface State {
  readonly status: string;
  readonly incomplete_details?: End['incomplete_details'];
  readonly output?: readonly Item[];
  readonly error?: { readonly code: string; readonly message: string } | null;
  /** That of the chat; absent until it is known. */
  readonly usage?: unknown;
}

/** With the fields that OpenAI's own answers always have. */
export function responseOf({ id, createdAt, model, context }: AnswerSubject, state: State): Json {
  const { usage, ...known } = state;
  return {
    id: `resp_${id}`,
    object: 'response',
    created_at: createdAt,
    background: false,
    error: null,
    incomplete_details: null,
    instructions: null,
    max_output_tokens: null,
    max_tool_calls: null,
    metadata: {},
    parallel_tool_calls: true,
    previous_response_id: null,
    prompt_cache_key: null,
    reasoning: { effort: null, summary: null },
    safety_identifier: null,
    service_tier: 'default',
    store: false,
    temperature: null,
    text: { format: { type: 'text' } },
    tool_choice: 'auto',
    tools: [],
    top_logprobs: 0,
    top_p: null,
    truncation: 'disabled',
    user: null,
    ...objectOf(context['repeated']),
    model,
    output: [],
    ...known,
    usage: usage === undefined ? null : usageOf(objectOf(usage)),
  };
}

function usageOf(usage: Json): Json {
  const input = countOf(usage['prompt_tokens']);
  const output = countOf(usage['completion_tokens']);
  const { cached_tokens: cached } = objectOf(usage['prompt_tokens_details']);
  const { reasoning_tokens: reasoning } = objectOf(usage['completion_tokens_details']);
  return {
    input_tokens: input,
    input_tokens_details: { cached_tokens: countOf(cached) },
    output_tokens: output,
    output_tokens_details: { reasoning_tokens: countOf(reasoning) },
    total_tokens: input + output,
    ...(usage['estimated'] === true && { estimated: true }),
  };
}

export type PendingStatus = 'queued' | 'in_progress' | 'failed' | 'cancelled';

interface Pending {
  readonly status: PendingStatus;
  readonly error: Pick<ApiError, 'code' | 'message'> | null;
}

/** A response that has no output, or not yet. */
export function pendingResponse(subject: AnswerSubject, { status, error }: Pending): Json {
  const told = error && { code: error.code, message: error.message };
  return responseOf(subject, { status, error: told });
}

function countOf(value: unknown): number {
  return typeof value === 'number' && value >= 0 ? value : 0;
}

export function textOf(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

export function listOf(value: unknown): readonly unknown[] {
  return Array.isArray(value) ? value : [];
}

export function objectOf(value: unknown): Json {
  return typeof value === 'object' && value !== null ? (value as Json) : {};
}
