/**
 * The stream of chat chunks as events of Anthropic's Messages API. Its content blocks follow each
 * other, while the pieces of several tool calls may alternate in a chat stream: only one block is
 * open, and pieces of later ones wait until it has ended.
 */
import { ApiError } from '../../errors.js';
import { isFields } from '../tokens.js';
import type { AnswerEvents, AnswerSubject } from '../translation.js';
import {
  ending,
  firstChoice,
  InputReader,
  messageId,
  reasoningOf,
  showsThinking,
  textIn,
  toolUseHead,
  usageOf,
} from './answer.js';
import { messagesError } from './errors.js';

type Fields = Readonly<Record<string, unknown>>;

/** Characters that may wait for the end of an open tool call. */
const MAX_WAITING_CHARACTERS = 16 * 1024 * 1024;

/** Blocks that may wait for it, some of them empty. */
const MAX_WAITING_BLOCKS = 1_024;

interface Block {
  readonly kind: 'text' | 'thinking' | 'tool_use';
  /** `content_block` of its first event. */
  readonly head: object;
  /** Of a tool call. */
  readonly input: InputReader | null;
  /** Its text that waits until the block is opened. */
  waiting: string;
  /** An event up to the text of its delta, made when the block is opened. */
  before: string;
  isClosed: boolean;
}

/** `chunk` throws `provider_error` if too much waits for the end of a tool call. */
export function openEvents(subject: AnswerSubject): AnswerEvents {
  return new MessageEvents(subject);
}

class MessageEvents implements AnswerEvents {
  readonly #subject: AnswerSubject;
  readonly #thinks: boolean;
  #started = false;
  #open: Block | null = null;
  /** The number of blocks that have been opened. */
  #count = 0;
  /** Blocks that follow the open one, in their order. */
  #next: Block[] = [];
  #waitingCharacters = 0;
  /** By the index of their pieces. */
  readonly #calls = new Map<unknown, Block>();
  #last: Fields = {};
  #usage: unknown = null;

  constructor(subject: AnswerSubject) {
    this.#subject = subject;
    this.#thinks = showsThinking(subject.context);
  }

  chunk(chunk: Fields): string {
    let events = this.#started ? '' : this.#start();
    if (isFields(chunk['usage'])) this.#usage = chunk['usage'];
    const choice = firstChoice(chunk);
    if (choice === undefined) return events;
    if ((choice['finish_reason'] ?? null) !== null) this.#last = choice;
    const delta = choice['delta'];
    if (!isFields(delta)) return events;
    if (this.#thinks) events += this.#text('thinking', reasoningOf(delta));
    events += this.#text('text', textIn(delta['content']));
    if (delta['refusal'] !== undefined) events += this.#text('text', textIn(delta['refusal']));
    const { tool_calls: pieces } = delta;
    if (!Array.isArray(pieces)) return events;
    for (const piece of pieces as unknown[]) if (isFields(piece)) events += this.#call(piece);
    return events;
  }

  end(): string {
    let events = this.#started ? '' : this.#start();
    for (;;) {
      if (this.#open !== null) events += this.#close(this.#open);
      const block = this.#next.shift();
      if (block === undefined) break;
      events += this.#begin(block);
    }
    const delta = ending(this.#last, this.#subject.context, this.#calls.size > 0);
    events += eventOf({ type: 'message_delta', delta, usage: usageOf(this.#usage) });
    return events + eventOf({ type: 'message_stop' });
  }

  fail(error: ApiError): string {
    // The value of the header `request-id`.
    const { body } = messagesError(error, `req_${this.#subject.id}`);
    return `event: error\ndata: ${JSON.stringify(body)}\n\n`;
  }

  #start(): string {
    this.#started = true;
    const message = {
      id: messageId(this.#subject),
      type: 'message',
      role: 'assistant',
      model: this.#subject.model,
      content: [],
      stop_reason: null,
      stop_sequence: null,
      // Local servers count at the end: the last events have the numbers.
      usage: usageOf(null),
    };
    return eventOf({ type: 'message_start', message }) + eventOf({ type: 'ping' });
  }

  /** Text is by far the most common: if its block is open, its event is one concatenation. */
  #text(kind: 'text' | 'thinking', text: string): string {
    if (text === '') return '';
    const open = this.#open;
    if (open?.kind === kind && this.#next.length === 0) {
      return open.before + JSON.stringify(text) + AFTER_TEXT;
    }
    const last = this.#next.at(-1) ?? open;
    const block = last?.kind === kind ? last : this.#append(blockOf(kind));
    this.#wait(block, text);
    return this.#advance();
  }

  #call(piece: Fields): string {
    const { index = this.#calls.size } = piece;
    const called = isFields(piece['function']) ? piece['function'] : {};
    let block = this.#calls.get(index);
    if (block === undefined) {
      const place = { subject: this.#subject, index: this.#calls.size };
      const head = { ...toolUseHead(piece, place), input: {} };
      block = this.#append({ ...EMPTY, kind: 'tool_use', head, input: new InputReader() });
      this.#calls.set(index, block);
    }
    // A call is closed when its input has ended: nothing that follows belongs to it.
    if (block.isClosed) return '';
    const text = textIn(called['arguments']);
    this.#wait(block, text);
    return (block === this.#open ? this.#flush(block) : '') + this.#advance();
  }

  #append(block: Block): Block {
    this.#next.push(block);
    if (this.#next.length > MAX_WAITING_BLOCKS) throw tooMuchWaits();
    return block;
  }

  #wait(block: Block, text: string): void {
    this.#waitingCharacters += text.length;
    if (this.#waitingCharacters > MAX_WAITING_CHARACTERS) throw tooMuchWaits();
    block.waiting += text;
  }

  /** Opens blocks as long as the one before has ended. */
  #advance(): string {
    let events = '';
    while (this.#next.length > 0) {
      const open = this.#open;
      if (open !== null && open.input?.isWhole === false) break;
      if (open !== null) events += this.#close(open);
      const block = this.#next.shift();
      if (block !== undefined) events += this.#begin(block);
    }
    return events;
  }

  #begin(block: Block): string {
    const index = this.#count++;
    this.#open = block;
    block.before = beforeText(index, DELTAS[block.kind]);
    const start = { type: 'content_block_start', index, content_block: block.head };
    return eventOf(start) + this.#flush(block);
  }

  /** The events for the text that has waited for the opening of its block. */
  #flush(block: Block): string {
    const { waiting, input, before } = block;
    block.waiting = '';
    const heldBefore = input?.held ?? 0;
    const text = input === null ? waiting : input.add(waiting);
    const held = (input?.held ?? 0) - heldBefore;
    this.#waitingCharacters -= waiting.length - held;
    return text === '' ? '' : before + JSON.stringify(text) + AFTER_TEXT;
  }

  #close(block: Block): string {
    const index = this.#count - 1;
    this.#open = null;
    block.isClosed = true;
    let events = '';
    const rest = block.input?.end() ?? '';
    if (rest !== '') events += block.before + JSON.stringify(rest) + AFTER_TEXT;
    // That API's clients complete a thinking block with it.
    if (block.kind === 'thinking') {
      events += beforeText(index, ['signature_delta', 'signature']) + '""' + AFTER_TEXT;
    }
    return events + eventOf({ type: 'content_block_stop', index });
  }
}

const EMPTY = { waiting: '', before: '', isClosed: false };

function blockOf(kind: 'text' | 'thinking'): Block {
  const head = kind === 'text' ? { text: '' } : { thinking: '', signature: '' };
  return { ...EMPTY, kind, head: { type: kind, ...head }, input: null };
}

/** The type of each kind's delta, and its field. */
const DELTAS = {
  text: ['text_delta', 'text'],
  thinking: ['thinking_delta', 'thinking'],
  tool_use: ['input_json_delta', 'partial_json'],
} as const;

function beforeText(index: number, [type, field]: readonly [string, string]): string {
  const data = `{"type":"content_block_delta","index":${index}`;
  return `event: content_block_delta\ndata: ${data},"delta":{"type":"${type}","${field}":`;
}

const AFTER_TEXT = '}}\n\n';

function eventOf(data: Fields & { readonly type: string }): string {
  return `event: ${data.type}\ndata: ${JSON.stringify(data)}\n\n`;
}

function tooMuchWaits(): ApiError {
  const limitMiB = MAX_WAITING_CHARACTERS / 1024 / 1024;
  const message =
    'The model began further content before it had ended a tool call, and more of it waits than ' +
    `${limitMiB} MiB or ${MAX_WAITING_BLOCKS} blocks. Ask for one call at a time.`;
  return new ApiError('provider_error', message);
}
