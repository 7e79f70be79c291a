/** Chat completions as answers of Anthropic's Messages API. */
import { isFields } from '../tokens.js';
import type { AnswerSubject, TranslationContext } from '../translation.js';

type Fields = Readonly<Record<string, unknown>>;

export function toAnswer(completion: Fields, subject: AnswerSubject): Fields {
  const choice = firstChoice(completion) ?? {};
  const message = isFields(choice['message']) ? choice['message'] : {};
  const calls = listOf(message['tool_calls']);
  const content: object[] = [];
  const thinking = reasoningOf(message);
  // Only callers that ask for it expect it: others would show it as text, or refuse the block.
  if (thinking !== '' && showsThinking(subject.context)) {
    // Only that API's provider signs its reasoning, and reads the signature again.
    content.push({ type: 'thinking', thinking, signature: '' });
  }
  const text = textIn(message['content']) + textIn(message['refusal']);
  if (text !== '') content.push({ type: 'text', text });
  for (const [index, call] of calls.entries()) content.push(toolUse(call, { subject, index }));
  return {
    id: messageId(subject),
    type: 'message',
    role: 'assistant',
    model: subject.model,
    content,
    ...ending(choice, subject.context, calls.length > 0),
    usage: usageOf(completion['usage']),
  };
}

export function messageId({ id }: AnswerSubject): string {
  return `msg_${id}`;
}

export function showsThinking(context: TranslationContext): boolean {
  return context['thinking'] === true;
}

/** The only one: requests of that API ask for one answer. */
export function firstChoice(completion: Fields): Fields | undefined {
  const { choices } = completion;
  const first: unknown = Array.isArray(choices) ? choices[0] : undefined;
  return isFields(first) ? first : undefined;
}

function listOf(value: unknown): readonly Fields[] {
  return Array.isArray(value) ? (value as unknown[]).filter(isFields) : [];
}

/** Of a message or a delta; empty if it has none. */
export function reasoningOf(message: Fields): string {
  return textIn(message['reasoning_content'] ?? message['reasoning']);
}

export function textIn(value: unknown): string {
  return typeof value === 'string' ? value : '';
}

interface Ending {
  readonly stop_reason: string;
  readonly stop_sequence: string | null;
}

const STOP_REASONS: ReadonlyMap<unknown, string> = new Map([
  ['length', 'max_tokens'],
  ['content_filter', 'refusal'],
]);

/** `choice` is the one with the `finish_reason`. */
export function ending(choice: Fields, context: TranslationContext, calls: boolean): Ending {
  const named = STOP_REASONS.get(choice['finish_reason']);
  if (named !== undefined) return { stop_reason: named, stop_sequence: null };
  if (calls) return { stop_reason: 'tool_use', stop_sequence: null };
  const sequence = stopSequence(choice, context);
  return { stop_reason: sequence === null ? 'end_turn' : 'stop_sequence', stop_sequence: sequence };
}

/** vLLM reports which text has ended the answer as `stop_reason`, SGLang as `matched_stop`. */
function stopSequence(
  choice: Fields,
  { stop_sequences: asked }: TranslationContext,
): string | null {
  const told = choice['stop_reason'] ?? choice['matched_stop'];
  const isAsked = typeof told === 'string' && Array.isArray(asked) && asked.includes(told);
  return isAsked ? told : null;
}

export interface MessageUsage {
  readonly input_tokens: number;
  readonly cache_creation_input_tokens: number;
  readonly cache_read_input_tokens: number;
  readonly output_tokens: number;
  /** The gateway's own field: the local server has not counted. */
  readonly estimated?: true;
}

/** That API counts the tokens that were read from a cache beside the others, not among them. */
export function usageOf(value: unknown): MessageUsage {
  const usage = isFields(value) ? value : {};
  const { prompt_tokens_details: details } = usage;
  const prompt = countIn(usage['prompt_tokens']);
  const cached = Math.min(isFields(details) ? countIn(details['cached_tokens']) : 0, prompt);
  return {
    input_tokens: prompt - cached,
    cache_creation_input_tokens: 0,
    cache_read_input_tokens: cached,
    output_tokens: countIn(usage['completion_tokens']),
    ...(usage['estimated'] === true && { estimated: true }),
  };
}

function countIn(value: unknown): number {
  return typeof value === 'number' && value > 0 ? Math.trunc(value) : 0;
}

// Tool calls.

interface Place {
  readonly subject: AnswerSubject;
  readonly index: number;
}

function toolUse(call: Fields, place: Place): object {
  const called = isFields(call['function']) ? call['function'] : {};
  return { ...toolUseHead(call, place), input: inputOf(textIn(called['arguments'])) };
}

/** Without its input. */
export function toolUseHead(call: Fields, { subject, index }: Place): object {
  const called = isFields(call['function']) ? call['function'] : {};
  const id = textIn(call['id']) || `toolu_${subject.id}_${index}`;
  return { type: 'tool_use', id, name: textIn(called['name']) };
}

/** Deeper input could not be serialized. */
const MAX_INPUT_DEPTH = 128;

/**
 * The input of a call, which is always an object: arguments that are something else, or broken off,
 * are its field `arguments`, as text, and the caller's own check of the input refuses them.
 */
function inputOf(text: string): object {
  const reader = new InputReader();
  try {
    const input: unknown = JSON.parse(reader.add(text) + reader.end());
    if (isFields(input) && reader.deepest <= MAX_INPUT_DEPTH) return input;
  } catch {
    // Broken off, or not JSON.
  }
  return { arguments: text };
}

const QUOTE = 0x22;
const BACKSLASH = 0x5c;
const OPEN_LIST = 0x5b;
const CLOSE_LIST = 0x5d;
const OPEN_OBJECT = 0x7b;
const CLOSE_OBJECT = 0x7d;

/**
 * Reads a call's arguments, in pieces, as the JSON object that a call's input must be, and notices
 * where it ends. What follows the object is left out.
 */
export class InputReader {
  /** Arguments that do not begin as an object, held until their end. */
  #other = '';
  #begun = false;
  #depth = 0;
  #inString = false;
  #escaped = false;
  deepest = 0;
  /** The object has ended. */
  isWhole = false;

  /** Characters that it holds. */
  get held(): number {
    return this.#other.length;
  }

  /** What can be passed on of this piece. */
  add(piece: string): string {
    if (this.isWhole) return '';
    if (this.#other !== '') {
      this.#other += piece;
      return '';
    }
    const text = this.#begun ? piece : piece.trimStart();
    if (text === '') return '';
    if (!this.#begun && text.charCodeAt(0) !== OPEN_OBJECT) {
      this.#other = text;
      return '';
    }
    this.#begun = true;
    for (let at = 0; at < text.length; at++) {
      this.#read(text.charCodeAt(at));
      if (this.isWhole) return text.slice(0, at + 1);
    }
    return text;
  }

  /** The arguments have ended: what is still to be passed on. */
  end(): string {
    if (this.#begun) return '';
    return this.#other === '' ? '{}' : JSON.stringify({ arguments: this.#other });
  }

  #read(code: number): void {
    if (this.#escaped) this.#escaped = false;
    else if (this.#inString) {
      if (code === QUOTE) this.#inString = false;
      else if (code === BACKSLASH) this.#escaped = true;
    } else if (code === QUOTE) this.#inString = true;
    else if (code === OPEN_OBJECT || code === OPEN_LIST) {
      this.#depth += 1;
      this.deepest = Math.max(this.deepest, this.#depth);
    } else if (code === CLOSE_OBJECT || code === CLOSE_LIST) {
      this.#depth -= 1;
      this.isWhole = this.#depth === 0;
    }
  }
}
