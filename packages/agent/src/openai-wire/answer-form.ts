/** What the caller asked for, as far as the answer's form depends on it. */
import { randomId } from '@inference-gateway/shared/ids';
import { LocalFailure } from '../backends/backend.js';
import type { ReasoningField } from '@inference-gateway/shared/protocol/messages';
import type { JsonObject } from './json.js';

export interface AnswerForm {
  readonly kind: 'chat' | 'completion';
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
export function frameOf(first: JsonObject, { kind }: AnswerForm): Frame {
  const { id, created } = first;
  const hasId = typeof id === 'string' && id !== '';
  const hasTime = typeof created === 'number' && Number.isSafeInteger(created);
  return {
    id: hasId ? id : `${kind === 'chat' ? 'chatcmpl' : 'cmpl'}-${randomId()}`,
    created: hasTime ? created : Math.floor(Date.now() / 1000),
  };
}
