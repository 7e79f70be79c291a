/** The parts of a caller's request that decide the answer's form. */
import { SYSTEM_CLOCK } from '@inference-gateway/shared/clock';
import { randomId } from '@inference-gateway/shared/ids';
import { LocalFailure } from '../backends/backend.js';
import type { ReasoningField } from '@inference-gateway/shared/protocol/messages';
import type { JsonObject } from './json.js';

/** The differences between OpenAI's two forms of text answers. */
export interface TextWire {
  /** The field of a choice that holds the text. */
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
   * The id in the caller's request: the answer has it, even if the local server uses another name.
   */
  readonly model: string;
  readonly stream: boolean;
  /**
   * Whether the caller wants a stream's usage chunk; the agent always requests it from the local
   * server.
   */
  readonly usage: boolean;
  /** For servers that do not count the prompt's tokens. Absent: they count as none. */
  readonly promptTokens?: () => number;
  /**
   * The names that a server may give its own model; any other name means that another model has
   * replaced it. Absent: the name is not checked.
   */
  readonly names?: ReadonlySet<string>;
  /** The name of the reasoning field for the caller; absent: the usual one. */
  readonly reasoning?: ReasoningField;
}

/** Throws a `LocalFailure` if the answer is another model's. */
export function requireModel(first: JsonObject, { names }: AnswerForm): void {
  const { model: named } = first;
  if (names === undefined || typeof named !== 'string' || named === '') return;
  // It may be a path, which callers must not see.
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

/** Takes id and time from the answer's first object, or generates missing ones. */
export function frameOf(first: JsonObject, { wire }: AnswerForm): Frame {
  const { id, created } = first;
  const hasId = typeof id === 'string' && id !== '';
  const hasTime = typeof created === 'number' && Number.isSafeInteger(created);
  return {
    id: hasId ? id : `${wire.idPrefix}-${randomId()}`,
    created: hasTime ? created : Math.floor(SYSTEM_CLOCK.now() / 1000),
  };
}
