/** Runs the dashboard's snippets as users do: pasted into a shell, or saved to a file. */
import { execFile } from 'node:child_process';
import { mkdtemp, readdir, readFile, rm, symlink, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { fileURLToPath } from 'node:url';
import { promisify } from 'node:util';

const run = promisify(execFile);
const NODE_MODULES = fileURLToPath(new URL('../../node_modules', import.meta.url));

type SnippetLanguage = 'curl' | 'python' | 'node';

interface Ran {
  readonly stdout: string;
  /** The files in its folder after it has run, by name. */
  readonly files: Readonly<Record<string, Buffer>>;
}

/**
 * Rejects if the snippet fails. `files` are put into its folder, by name; `env` is added to the
 * environment.
 */
export async function runSnippet(
  language: SnippetLanguage,
  text: string,
  { files = {}, env = {} }: RunOptions = {},
): Promise<Ran> {
  const folder = await mkdtemp(join(tmpdir(), 'gateway-test-'));
  try {
    for (const [name, bytes] of Object.entries(files)) await writeFile(join(folder, name), bytes);
    const options = { cwd: folder, env: { ...process.env, ...env } };
    const { stdout } = await start(language, text, options);
    return { stdout, files: await readFiles(folder) };
  } finally {
    await rm(folder, { recursive: true, force: true });
  }
}

async function start(
  language: SnippetLanguage,
  text: string,
  options: { readonly cwd: string; readonly env: NodeJS.ProcessEnv },
) {
  if (language === 'curl') return run('sh', ['-ec', text], options);
  const isNode = language === 'node';
  if (isNode) await symlink(NODE_MODULES, join(options.cwd, 'node_modules'));
  const file = isNode ? 'call.mjs' : 'call.py';
  await writeFile(join(options.cwd, file), text);
  return run(isNode ? process.execPath : 'python3', [file], options);
}

async function readFiles(folder: string): Promise<Record<string, Buffer>> {
  const entries = await readdir(folder, { withFileTypes: true });
  const names = entries.filter((entry) => entry.isFile()).map(({ name }) => name);
  const read = names.map(async (name) => [name, await readFile(join(folder, name))] as const);
  return Object.fromEntries(await Promise.all(read));
}

interface RunOptions {
  readonly files?: Readonly<Record<string, Uint8Array>>;
  readonly env?: Readonly<Record<string, string>>;
}

/** Whether this machine has Python with this module. */
export async function hasPython(module: string): Promise<boolean> {
  const told = run('python3', ['-c', `import ${module}`]);
  return told.then(
    () => true,
    () => false,
  );
}
