/** Reads made-up answers of local servers, as the agent would. */
import type { LocalAnswer } from '@inference-gateway/agent/backends/backend';
import { readAnswer } from '@inference-gateway/agent/openai-wire/local-answer';
import { CHAT_WIRE, COMPLETION_WIRE } from '@inference-gateway/agent/openai-wire/answer-form';
import type { AnswerForm } from '@inference-gateway/agent/openai-wire/answer-form';

export type Json = Record<string, unknown>;
type Pieces = readonly (string | Uint8Array)[];

export const chat: AnswerForm = { wire: CHAT_WIRE, model: 'mine', stream: true, usage: false };
export const completion: AnswerForm = { ...chat, wire: COMPLETION_WIRE };
export const usage = { prompt_tokens: 3, completion_tokens: 2, total_tokens: 5 };

export interface Streamed {
  readonly chunks: Json[];
  readonly usage: unknown;
  readonly text: string;
}

/** A whole stream, from a body that arrives in these pieces. */
export async function streamed(pieces: Pieces, form = chat): Promise<Streamed> {
  const answer = await read(pieces, form);
  if (answer.kind !== 'events') throw new Error(`not a stream: ${JSON.stringify(answer)}`);
  let text = '';
  let next = await answer.events.next();
  for (; next.done !== true; next = await answer.events.next()) text += next.value;
  const events = text.split('\n\n').slice(0, -1);
  const chunks = events.map((event) => JSON.parse(event.replace(/^data: /, '')) as Json);
  return { chunks, usage: next.value, text };
}

export function read(pieces: Pieces, form: AnswerForm, status = 200): Promise<LocalAnswer> {
  const body = {
    async *[Symbol.asyncIterator]() {
      for (const piece of pieces) yield Buffer.from(piece);
    },
    finished: () => undefined,
  };
  return readAnswer({ status, body }, form);
}

export function firstChoice(chunk: Json | undefined): Json | undefined {
  return (chunk?.['choices'] as Json[] | undefined)?.[0];
}

export function deltas({ chunks }: Streamed): unknown[] {
  return chunks.map((chunk) => firstChoice(chunk)?.['delta']);
}
