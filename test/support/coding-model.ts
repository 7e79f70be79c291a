/**
 * A model that reads a file with a tool of the program that asks, whatever the tool is called, and
 * answers with what the file holds.
 */
import type { Behaviour, FakeRequest } from './fake-model-server.js';

interface OfferedTool {
  readonly function: {
    readonly name: string;
    readonly parameters?: { readonly properties?: Readonly<Record<string, object>> };
  };
}

interface ChatMessage {
  readonly role: string;
  readonly content: unknown;
}

/** Names of tools that read a file, or run a command that does, the best first. */
const READERS = [
  'Read',
  'read',
  'read_file',
  'read_files',
  'exec_command',
  'shell_command',
  'shell',
  'Bash',
];
const USAGE = { prompt_tokens: 100, completion_tokens: 10, total_tokens: 110 };
/** Characters of a piece of arguments, so that they arrive in several. */
const PIECE = 7;

export interface CodingModel {
  readonly behaviour: Behaviour;
  /** Names of the tools that it called. */
  readonly called: string[];
}

/** `path`: the file; `secret`: what it holds, which the model does not know. */
export function codingModel(path: string, secret: RegExp): CodingModel {
  const called: string[] = [];
  const behaviour: Behaviour = (request, response) => {
    const found = secret.exec(resultsIn(request))?.[0];
    const tool = found === undefined ? readerIn(request) : undefined;
    const deltas: object[] = [{ role: 'assistant', content: '' }];
    if (tool === undefined) deltas.push({ content: `The file holds ` }, { content: found ?? '?' });
    else {
      called.push(tool.function.name);
      const written = JSON.stringify(argumentsFor(tool, path));
      const call = { index: 0, id: 'call_1', type: 'function' };
      const begun = { ...call, function: { name: tool.function.name, arguments: '' } };
      const pieces = written.match(new RegExp(`.{1,${PIECE}}`, 'gs')) ?? [];
      deltas.push({ tool_calls: [begun] });
      for (const piece of pieces) {
        deltas.push({ tool_calls: [{ index: 0, function: { arguments: piece } }] });
      }
    }
    response.writeHead(200, { 'content-type': 'text/event-stream' });
    const send = (chunk: object) => response.write(`data: ${JSON.stringify(chunk)}\n\n`);
    for (const delta of deltas) send({ choices: [{ index: 0, delta, finish_reason: null }] });
    const reason = tool === undefined ? 'stop' : 'tool_calls';
    send({ choices: [{ index: 0, delta: {}, finish_reason: reason }] });
    send({ choices: [], usage: USAGE });
    response.end('data: [DONE]\n\n');
  };
  return { behaviour, called };
}

function resultsIn({ body }: FakeRequest): string {
  const messages = (body['messages'] ?? []) as readonly ChatMessage[];
  const results = messages.filter(({ role }) => role === 'tool');
  return results.map(({ content }) => JSON.stringify(content)).join('\n');
}

function readerIn({ body }: FakeRequest): OfferedTool | undefined {
  const tools = (body['tools'] ?? []) as readonly OfferedTool[];
  const byName = new Map(tools.map((tool) => [tool.function.name, tool]));
  const name = READERS.find((one) => byName.has(one));
  return name === undefined ? undefined : byName.get(name);
}

/** By the names of its parameters. */
function argumentsFor({ function: { parameters } }: OfferedTool, path: string): object {
  const command = ['cat', path];
  const values: Readonly<Record<string, unknown>> = {
    file_path: path,
    filePath: path,
    filepath: path,
    files: [{ path }],
    absolute_path: path,
    path,
    cmd: command.join(' '),
    command: command.join(' '),
    description: 'Reads the file.',
  };
  const properties = Object.entries(parameters?.properties ?? {});
  const given = properties.flatMap(([name, schema]) => {
    if (values[name] === undefined) return [];
    const isWords = name === 'command' && 'type' in schema && schema.type === 'array';
    return [[name, isWords ? command : values[name]]];
  });
  return Object.fromEntries(given);
}
