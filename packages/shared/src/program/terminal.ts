/** Questions to the user at a terminal. */
import { createInterface } from 'node:readline';
import type { Interface } from 'node:readline';
import { CommandError, EXIT } from './command-error.js';

export interface Terminal {
  /** The answer, without white space around it; null if no more can be read. */
  readonly ask: (question: string) => Promise<string | null>;
  readonly tell: (line: string) => void;
}

export interface Streams {
  readonly input: NodeJS.ReadableStream;
  readonly output: NodeJS.WritableStream;
}

/**
 * Null without a terminal: in a pipe, a unit or a container. Questions are printed on stderr, like
 * everything that is not data.
 */
export function terminalStreams(): Streams | null {
  const { stdin: input, stdout, stderr: output } = process;
  return input.isTTY && stdout.isTTY ? { input, output } : null;
}

/** Runs `talk` with a terminal. Ctrl-C at a question exits 130. */
export async function withTerminal<T>(
  { input, output }: Streams,
  talk: (terminal: Terminal) => Promise<T>,
): Promise<T> {
  const reader = createInterface({ input, output });
  const interrupted = new Promise<never>((_, fail) => {
    reader.once('SIGINT', () => fail(new CommandError(EXIT.interrupted, 'interrupted.')));
  });
  const next = lineReader(reader);
  let isOver = false;
  reader.once('close', () => {
    isOver = true;
  });
  const terminal: Terminal = {
    ask: (question) => {
      // After the end of the input, lines may still be ahead; Node 24 then refuses to prompt.
      if (isOver) output.write(question);
      else {
        reader.setPrompt(question);
        reader.prompt();
      }
      return Promise.race([next(), interrupted]);
    },
    tell: (line) => void output.write(`${line}\n`),
  };
  try {
    return await talk(terminal);
  } finally {
    interrupted.catch(() => undefined);
    reader.close();
  }
}

/** Lines read ahead of their questions; further ones are dropped. */
const MAX_AHEAD = 64;

/** The next line, or null after the last: a paste may bring lines before they are asked for. */
function lineReader(reader: Interface): () => Promise<string | null> {
  const ahead: string[] = [];
  let isOver = false;
  let take: ((line: string | null) => void) | null = null;
  const give = (line: string | null): void => {
    const waiting = take;
    take = null;
    if (waiting !== null) waiting(line);
    else if (line !== null && ahead.length < MAX_AHEAD) ahead.push(line);
  };
  reader.on('line', (line) => give(line.trim()));
  reader.once('close', () => {
    isOver = true;
    give(null);
  });
  return () =>
    new Promise((resolve) => {
      const line = ahead.shift();
      if (line !== undefined || isOver) resolve(line ?? null);
      else take = resolve;
    });
}

/** `y` and `yes` are yes, Enter is what `whenEmpty` says, all else is no. */
export async function askYesNo(
  { ask }: Terminal,
  question: string,
  whenEmpty: boolean,
): Promise<boolean> {
  const answer = await ask(`${question} ${whenEmpty ? '[Y/n]' : '[y/N]'} `);
  if (answer === null) return false;
  return answer === '' ? whenEmpty : /^y(es)?$/i.test(answer);
}
