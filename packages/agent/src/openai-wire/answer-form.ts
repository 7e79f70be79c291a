/** What the caller asked for, as far as the answer's form depends on it. */
import { randomId } from '@inference-gateway/shared/ids';
import { LocalFailure } from '../backends/backend.js';
import type { ReasoningField } from '@inference-gateway/shared/protocol/messages';
import type { JsonObject } from './json.js';

/** What the two forms of OpenAI's text answers are made of. */
export interface TextWire {
  /** What a choice holds. */
  readonly choice: 'message' | 'text';
  readonly idPrefix: string;
  /** The `object` of a whole answer and of a chunk. */
  readonly document: string;
  readonly chunk: string;
}

export const CHAT_WIRE: TextWire = {
  choice: 'message',
  idPrefix: 'chatcmpl',
  document: 'chat.completion',
  chunk: 'chat.completion.chunk',
};

export const COMPLETION_WIRE: TextWire = {
  choice: 'text',
  idPrefix: 'cmpl',
  document: 'text_completion',
  chunk: 'text_completion',
};

export interface AnswerForm {
  readonly wire: TextWire;
  /**
   * The id that the caller asked for: the answer names it, whatever the local server calls the
   * model.
   */
  readonly model: string;
  readonly stream: boolean;
  /**
   * Whether the caller wants a stream's usage chunk; the local server is asked for it in any case.
   */
  readonly usage: boolean;
  /** For servers that do not count the tokens of the prompt. Absent: they count as none. */
  readonly promptTokens?: () => number;
  /**
   * What a server that names its own model may call it; another name is another model's, which has
   * taken its place. Absent: the name says nothing.
   */
  readonly names?: ReadonlySet<string>;
  /** The name under which the caller reads the thinking text; absent, the usual one. */
  readonly reasoning?: ReasoningField;
}

/** Throws a `LocalFailure` where the answer is another model's. */
export function requireModel(first: JsonObject, { names }: AnswerForm): void {
  const { model: named } = first;
  if (names === undefined || typeof named !== 'string' || named === '') return;
  // It may be a path, which is not for callers to know.
  const shown = named.split(/[/\\]/).at(-1) ?? named;
  if (names.has(named) || names.has(shown)) return;
  const message = `the local server has another model now, '${shown}'.`;
  throw new LocalFailure('LOCAL_UNREACHABLE', message);
}

/** The fields that every answer and every chunk has. */
export interface Frame {
  readonly id: string;
  readonly created: number;
}

/** Takes id and time from the answer's first object, or makes them where they are missing. */
export function frameOf(first: JsonObject, { wire }: AnswerForm): Frame {
  const { id, created } = first;
  const hasId = typeof id === 'string' && id !== '';
  const hasTime = typeof created === 'number' && Number.isSafeInteger(created);
  return {
    id: hasId ? id : `${wire.idPrefix}-${randomId()}`,
    created: hasTime ? created : Math.floor(Date.now() / 1000),
  };
}
