/**
 * How llama.cpp's server and vLLM count the tokens of a prompt: routes of a stand-in. A token is a
 * word; templates write a mark before and behind each message.
 */
import type { FakeRequest } from '../fake-model-server.js';

type Fields = Readonly<Record<string, unknown>>;

interface Message {
  readonly role: string;
  readonly content?: string | null;
  readonly tool_calls?: object;
}

/** Writes a prompt at one path, and splits any text at another. */
export const LLAMA_TOKENIZER = {
  'POST /apply-template': ({ body }: FakeRequest) => ({ prompt: promptOf(body) }),
  'POST /tokenize': ({ body }: FakeRequest) => {
    const words = wordsOf(String(body['content']));
    // The beginning of a text, which the server adds to a prompt by itself.
    const start = body['add_special'] === true ? [1] : [];
    return { tokens: [...start, ...words.map((_, at) => at + 2)] };
  },
} as const;

/** Does both at one path. */
export const VLLM_TOKENIZER = {
  'POST /tokenize': ({ body }: FakeRequest) => {
    const tokens = wordsOf(promptOf(body)).map((_, at) => at);
    return { count: tokens.length, max_model_len: 8_192, tokens, token_strs: null };
  },
} as const;

/** The tokens of a chat by these routes; llama.cpp has one more for the beginning of the text. */
export function tokensOf(chat: Fields): number {
  return wordsOf(promptOf(chat)).length;
}

function promptOf({ messages, tools }: Fields): string {
  const said = (messages as readonly Message[]).map(
    ({ role, content, tool_calls: calls }) =>
      `<|${role}|> ${content ?? ''} ${calls ? JSON.stringify(calls) : ''} <|end|>`,
  );
  const described = Array.isArray(tools) ? tools.map((tool) => JSON.stringify(tool)) : [];
  return [...described, ...said, '<|assistant|>'].join('\n');
}

function wordsOf(text: string): string[] {
  return text.split(/\s+/).filter((word) => word !== '');
}
