/**
 * The events of a streamed response. Text and reasoning end when something else begins; calls end
 * together at the end, because a model may write several at once.
 */
import { ApiError } from '../../errors.js';
import type { AnswerEvents, AnswerSubject } from '../translation.js';
import {
  callOf,
  customItem,
  endOf,
  functionItem,
  itemId,
  listOf,
  messageItem,
  objectOf,
  reasoningItem,
  reasoningOf,
  responseOf,
  textOf,
  textPart,
} from './answer.js';
import type { Item, Json } from './answer.js';
import { CustomInput } from './custom-input.js';
import { ToolNames } from './tools.js';
import type { ToolName } from './tools.js';

/** Characters of a response, which its last event repeats. */
const MAX_CHARACTERS = 4 * 1024 * 1024;

export function openEvents(subject: AnswerSubject): AnswerEvents {
  return new ResponseEvents(subject);
}

/** Text of one kind that is being written. */
interface OpenText {
  readonly kind: 'reasoning' | 'text' | 'refusal';
  readonly at: number;
  readonly id: string;
  /** The JSON of a delta's event before its sequence number, and after it. */
  readonly before: string;
  readonly after: string;
  text: string;
}

interface OpenCall {
  readonly at: number;
  readonly id: string;
  /** The model's own id of the call. */
  readonly callId: string;
  /** The name of the function, and of the tool that it stands for. */
  readonly name: string;
  readonly tool: ToolName;
  readonly input: CustomInput | null;
  written: string;
}

class ResponseEvents implements AnswerEvents {
  readonly #subject: AnswerSubject;
  readonly #names: ToolNames;
  /** By its output index; null while it is being written. */
  readonly #items: (Item | null)[] = [];
  readonly #calls = new Map<unknown, OpenCall>();
  #open: OpenText | null = null;
  #sequence = 0;
  #characters = 0;
  #reason: unknown = null;
  #usage: unknown;
  #isBegun = false;
  #hasMessage = false;

  constructor(subject: AnswerSubject) {
    this.#subject = subject;
    this.#names = ToolNames.from(subject.context);
  }

  chunk(chunk: Json): string {
    let text = this.#isBegun ? '' : this.#begin();
    if (chunk['usage']) this.#usage = chunk['usage'];
    for (const one of listOf(chunk['choices'])) {
      const choice = objectOf(one);
      // A response has one answer.
      if ((choice['index'] ?? 0) !== 0) continue;
      const delta = objectOf(choice['delta']);
      const reasoning = reasoningOf(delta);
      if (reasoning !== '') text += this.#write('reasoning', reasoning);
      const content = textOf(delta['content']);
      if (content !== '') text += this.#write('text', content);
      const refusal = textOf(delta['refusal']);
      if (refusal !== '') text += this.#write('refusal', refusal);
      if (delta['tool_calls'])
        for (const call of listOf(delta['tool_calls'])) text += this.#call(call);
      if (choice['finish_reason']) this.#reason = choice['finish_reason'];
    }
    return text;
  }

  end(): string {
    let text = this.#isBegun ? '' : this.#begin();
    // A response has a message or a call, even if it says nothing.
    const saysNothing = !this.#hasMessage && this.#calls.size === 0;
    if (saysNothing) text += this.#closeText() + this.#openText('text');
    text += this.#closeText();
    for (const call of this.#calls.values()) text += this.#closeCall(call);
    const end = endOf(this.#reason);
    return text + this.#state(`response.${end.status}`, { ...end, output: this.#output });
  }

  /** `error` is what OpenAI's clients throw for; others read `response.failed`. */
  fail({ code, message, param }: ApiError): string {
    const begun = this.#isBegun ? '' : this.#begin();
    const error = { code, message };
    const failed = this.#state('response.failed', {
      status: 'failed',
      error,
      output: this.#output,
    });
    const told = { ...error, param, error: { ...error, type: 'server_error', param } };
    return begun + failed + this.#event('error', told);
  }

  /** Those that are complete. */
  get #output(): readonly Item[] {
    return this.#items.filter((item) => item !== null);
  }

  #begin(): string {
    this.#isBegun = true;
    const state = { status: 'in_progress' };
    return this.#state('response.created', state) + this.#state('response.in_progress', state);
  }

  #write(kind: OpenText['kind'], delta: string): string {
    this.#count(delta);
    let opening = '';
    if (this.#open?.kind !== kind) opening = this.#closeText() + this.#openText(kind);
    const open = this.#open;
    if (open === null) return opening;
    open.text += delta;
    const number = this.#next();
    return `${opening}${open.before}${number}${open.after}${JSON.stringify(delta)}}\n\n`;
  }

  #openText(kind: OpenText['kind']): string {
    const at = this.#items.push(null) - 1;
    const isReasoning = kind === 'reasoning';
    if (!isReasoning) this.#hasMessage = true;
    const id = itemId(isReasoning ? 'rs' : 'msg', this.#subject.id, at);
    const type = `response.${DELTAS[kind]}.delta`;
    const place = `"item_id":"${id}","output_index":${at},"content_index":0`;
    const after = `,${place},${kind === 'text' ? '"logprobs":[],' : ''}"delta":`;
    const before = `event: ${type}\ndata: {"type":"${type}","sequence_number":`;
    this.#open = { kind, at, id, before, after, text: '' };
    const begun = isReasoning
      ? { id, type: 'reasoning', status: 'in_progress', summary: [], content: [] }
      : { id, type: 'message', role: 'assistant', status: 'in_progress', content: [] };
    return (
      this.#event('response.output_item.added', { output_index: at, item: begun }) +
      this.#part('added', { kind, id, at, text: '' })
    );
  }

  #closeText(): string {
    const open = this.#open;
    if (open === null) return '';
    this.#open = null;
    const { kind, id, at, text } = open;
    const said = { text: kind === 'text' ? text : '', refusal: kind === 'refusal' ? text : '' };
    const item = kind === 'reasoning' ? reasoningItem(id, text) : messageItem(id, said);
    const whole = kind === 'refusal' ? { refusal: text } : { text };
    return (
      this.#event(`response.${DELTAS[kind]}.done`, {
        item_id: id,
        output_index: at,
        content_index: 0,
        ...whole,
        ...(kind === 'text' && { logprobs: [] }),
      }) +
      this.#part('done', open) +
      this.#close(at, item)
    );
  }

  #part(verb: 'added' | 'done', { kind, id, at, text }: Pick<OpenText, PartField>): string {
    return this.#event(`response.content_part.${verb}`, {
      item_id: id,
      output_index: at,
      content_index: 0,
      part: partOf(kind, text),
    });
  }

  #call(part: unknown): string {
    const { index } = objectOf(part);
    const { id, name, arguments: written } = callOf(part);
    const known = this.#calls.get(index ?? 0);
    const [call, opening] =
      known === undefined ? this.#openCall(index ?? 0, { id, name }) : ([known, ''] as const);
    if (written === '') return opening;
    this.#count(written);
    call.written += written;
    if (call.input !== null) return opening + this.#input(call, call.input.push(written));
    const delta = { item_id: call.id, output_index: call.at, delta: written };
    return opening + this.#event('response.function_call_arguments.delta', delta);
  }

  #openCall(
    index: unknown,
    { id: callId, name }: { readonly id: string; readonly name: string },
  ): readonly [OpenCall, string] {
    const closing = this.#closeText();
    const tool = this.#names.toolOf(name);
    const at = this.#items.push(null) - 1;
    const id = itemId(tool.isCustom ? 'ctc' : 'fc', this.#subject.id, at);
    const input = tool.isCustom ? new CustomInput() : null;
    const call = { at, id, callId, name, tool, input, written: '' };
    this.#calls.set(index, call);
    const item = { ...itemOf(call), status: 'in_progress' };
    return [call, closing + this.#event('response.output_item.added', { output_index: at, item })];
  }

  #input({ id, at }: OpenCall, delta: string): string {
    if (delta === '') return '';
    const told = { item_id: id, output_index: at, delta };
    return this.#event('response.custom_tool_call_input.delta', told);
  }

  #closeCall(call: OpenCall): string {
    const { id, at, input, written } = call;
    const item = itemOf(call);
    const place = { item_id: id, output_index: at };
    const done =
      input === null
        ? this.#event('response.function_call_arguments.done', {
            ...place,
            name: call.tool.name,
            arguments: written,
          })
        : this.#input(call, input.end()) +
          this.#event('response.custom_tool_call_input.done', { ...place, input: item['input'] });
    return done + this.#close(at, item);
  }

  #close(at: number, item: Item): string {
    this.#items[at] = item;
    return this.#event('response.output_item.done', { output_index: at, item });
  }

  #state(type: string, state: Parameters<typeof responseOf>[1]): string {
    const usage = this.#usage === undefined ? {} : { usage: this.#usage };
    return this.#event(type, { response: responseOf(this.#subject, { ...state, ...usage }) });
  }

  #event(type: string, fields: object): string {
    const data = JSON.stringify({ type, sequence_number: this.#next(), ...fields });
    return `event: ${type}\ndata: ${data}\n\n`;
  }

  #next(): number {
    const number = this.#sequence;
    this.#sequence += 1;
    return number;
  }

  #count({ length }: string): void {
    this.#characters += length;
    if (this.#characters <= MAX_CHARACTERS) return;
    const message = `The response is longer than ${MAX_CHARACTERS} characters.`;
    throw new ApiError('provider_error', message);
  }
}

type PartField = 'kind' | 'id' | 'at' | 'text';

const DELTAS: Readonly<Record<OpenText['kind'], string>> = {
  reasoning: 'reasoning_text',
  text: 'output_text',
  refusal: 'refusal',
};

function partOf(kind: OpenText['kind'], text: string): Json {
  switch (kind) {
    case 'reasoning':
      return { type: 'reasoning_text', text };
    case 'text':
      return textPart(text);
    case 'refusal':
      return { type: 'refusal', refusal: text };
  }
}

/** As it is written so far. */
function itemOf({ id, callId, tool, written }: OpenCall): Item {
  const call = { id: callId, name: tool.name, namespace: tool.namespace, arguments: written };
  return tool.isCustom ? customItem(id, call) : functionItem(id, call);
}
