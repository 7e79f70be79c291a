/**
 * Programs as people install them, each through a turn that reads a file by a tool call. Run by
 * `npm run test:clients`, which installs them.
 */
import { spawn } from 'node:child_process';
import { mkdir, readFile, realpath, writeFile } from 'node:fs/promises';
import { delimiter, dirname, join } from 'node:path';
import { afterAll, beforeAll, expect, it } from 'vitest';
import { codingModel } from '../support/coding-model.js';
import { startFakeOpenAi } from '../support/fake-openai-server.js';
import type { FakeModelServer } from '../support/fake-model-server.js';
import { openGateway } from '../support/gateway.js';
import type { TestGateway } from '../support/gateway.js';
import { temporaryFolder } from '../support/temporary-folder.js';

/** A turn takes seconds; the first start of a program may write its caches. */
const TURN_MS = 180_000;
const MODEL = 'coder';
const PROMPT = 'Read the file secret.txt in this folder, and tell me what it holds.';
const SECRET = /secret-\d+/;

/** Of a section that is a program: it is run as it is. */
const SCRIPT = 'client.mjs';

/** The folder in which the script has installed them. */
const installed = process.env['CLIENTS_FOLDER'] ?? '';
const nodeFolder = process.env['CLIENTS_NODE'] ?? '';

let gateway: TestGateway;
let server: FakeModelServer;

beforeAll(async () => {
  gateway = await openGateway();
  server = await startFakeOpenAi({ models: [MODEL] });
  await gateway.startAgent({ services: [{ baseUrl: server.baseUrl }] });
});

afterAll(async () => {
  await gateway.stop();
  await server.close();
});

interface Place {
  /** The folder in which it works. */
  readonly folder: string;
  /** The folder of its own settings. */
  readonly home: string;
}

interface Client {
  /** Its section in docs/clients.md, which has its configuration. */
  readonly name: string;
  readonly program: string;
  readonly args: readonly string[];
  /** Its configuration file in the home folder; absent: the section exports variables. */
  readonly file?: string;
  /** It stores its configuration by this command of its section. */
  readonly command?: string;
  /** What a machine without anybody needs besides. */
  readonly env?: Readonly<Record<string, string>>;
}

const CLIENTS: readonly Client[] = [
  {
    name: 'Codex',
    program: 'codex',
    args: ['exec', '--skip-git-repo-check', '--sandbox', 'danger-full-access', PROMPT],
    file: '.codex/config.toml',
  },
  {
    name: 'Claude Code',
    program: 'claude',
    args: ['-p', PROMPT, '--allowedTools', 'Read'],
    env: { CLAUDE_CODE_DISABLE_NONESSENTIAL_TRAFFIC: '1' },
  },
  {
    name: 'opencode',
    program: 'opencode',
    args: ['run', '--model', `gateway/${MODEL}`, PROMPT],
    file: '.config/opencode/opencode.json',
    env: { OPENCODE_DISABLE_AUTOUPDATE: '1' },
  },
  {
    name: 'qwen-code',
    program: 'qwen',
    args: ['-p', PROMPT, '--yolo', '--auth-type', 'openai'],
  },
  { name: 'cline', program: 'cline', args: [PROMPT], command: 'auth' },
  {
    name: 'Continue',
    program: 'cn',
    args: ['-p', '--auto', PROMPT],
    file: '.continue/config.yaml',
    env: { CONTINUE_TELEMETRY_ENABLED: '0' },
  },
  { name: 'LlamaIndex', program: 'node', args: [SCRIPT] },
];

/** The first block of code in its section, for this gateway. */
async function configurationOf(name: string): Promise<string> {
  const document = await readFile(new URL('../../docs/clients.md', import.meta.url), 'utf8');
  const section = document.split(/^## /m).find((one) => one.startsWith(`${name}\n`)) ?? '';
  const [, code] = /```\w+\n(.*?)```/s.exec(section) ?? [];
  if (code === undefined) throw new Error(`docs/clients.md has no configuration of ${name}`);
  return code
    .replaceAll(/\bGATEWAY(?=$|[\n/])/gm, gateway.address)
    .replaceAll(/\bMODEL\b/g, MODEL)
    .replaceAll(/(?<=[= '])KEY\b/g, gateway.anna.key);
}

async function configure(client: Client, place: Place): Promise<object> {
  const { name, program, args, command, file, env } = client;
  const configuration = await configurationOf(name);
  const own = { GATEWAY_KEY: gateway.anna.key, ...env };
  if (command !== undefined) {
    const line = new RegExp(`^${program} (${command} .*)`, 'm').exec(configuration)?.[1] ?? '';
    await run({ ...client, args: line.split(' ') }, place, own);
    return own;
  }
  if (args.includes(SCRIPT)) {
    await writeFile(join(installed, SCRIPT), configuration);
    return own;
  }
  if (file === undefined) {
    const exported = configuration.matchAll(/^export (\w+)=(.*)$/gm);
    return { ...own, ...Object.fromEntries([...exported].map(([, key, value]) => [key, value])) };
  }
  await mkdir(dirname(join(place.home, file)), { recursive: true });
  await writeFile(join(place.home, file), configuration);
  return own;
}

it.each(CLIENTS)('$name reads a file by a tool call', { timeout: TURN_MS }, async (client) => {
  const home = await realpath(await temporaryFolder());
  const folder = join(home, 'work');
  await mkdir(folder);
  const secret = `secret-${Math.floor(Math.random() * 1e9)}`;
  const path = join(folder, 'secret.txt');
  await writeFile(path, `${secret}\n`);
  const env = await configure(client, { folder, home });
  const model = codingModel(path, SECRET);
  server.behave(model.behaviour);
  const said = await run(client, { folder, home }, env);
  expect(model.called, said).not.toEqual([]);
  expect(said).toContain(secret);
  expect(await readFile(path, 'utf8')).toBe(`${secret}\n`);
});

/** What it prints. */
function run({ program, args }: Client, place: Place, env: object): Promise<string> {
  const isScript = args.includes(SCRIPT);
  const bin = isScript ? nodeFolder : join(installed, 'node_modules', '.bin');
  const { HOME: _home, ...inherited } = process.env;
  const child = spawn(join(bin, program), args, {
    cwd: isScript ? installed : place.folder,
    env: {
      ...inherited,
      HOME: place.home,
      PWD: place.folder,
      PATH: `${nodeFolder}${delimiter}${process.env['PATH'] ?? ''}`,
      NO_PROXY: '127.0.0.1,localhost',
      ...env,
    },
    stdio: ['ignore', 'pipe', 'pipe'],
  });
  let said = '';
  for (const stream of [child.stdout, child.stderr]) {
    stream.setEncoding('utf8').on('data', (text: string) => (said += text));
  }
  const late = setTimeout(() => child.kill('SIGKILL'), TURN_MS - 20_000);
  return new Promise((resolve, reject) => {
    child.once('error', reject).once('close', () => {
      clearTimeout(late);
      resolve(said);
    });
  });
}
