/** What the caller asked for, as far as the answer's form depends on it. */
import { randomId } from '@inference-gateway/shared/ids';
import type { JsonObject } from './json.js';

export interface Wish {
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
}

/** The fields that every answer and every chunk has. */
export interface Frame {
  readonly id: string;
  readonly created: number;
}

/** Takes id and time from the answer's first object, or makes them where they are missing. */
export function frameOf(first: JsonObject, { kind }: Wish): Frame {
  const { id, created } = first;
  const hasId = typeof id === 'string' && id !== '';
  const hasTime = typeof created === 'number' && Number.isSafeInteger(created);
  return {
    id: hasId ? id : `${kind === 'chat' ? 'chatcmpl' : 'cmpl'}-${randomId()}`,
    created: hasTime ? created : Math.floor(Date.now() / 1000),
  };
}
