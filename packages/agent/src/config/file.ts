/** Reads and changes the configuration file. A change replaces the whole file atomically. */
import { randomBytes } from 'node:crypto';
import { mkdir, readFile, realpath, rename, rm, writeFile } from 'node:fs/promises';
import { dirname, resolve } from 'node:path';
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { configError } from './problems.js';
import { parseConfig } from './schema.js';
import type { FileConfig, ParsedConfig } from './schema.js';

/** The parsed JSON: keys that a command does not change keep their value and position. */
export type ConfigDocument = Record<string, unknown>;

/** Reads the file and reports all faults. A file that was not named may be missing. */
export async function readConfigFile(location: ConfigLocation): Promise<ParsedConfig> {
  return parseConfig(parseJson(await readText(location), location.file));
}

/** Reads a file that must already be valid. */
export async function readSoundConfig(location: ConfigLocation): Promise<FileConfig> {
  const { config, problems } = await readConfigFile(location);
  if (problems.length > 0) throw configError(location.file, problems);
  return config;
}

/** Changes the file, or creates it. Refuses a change that would make it invalid. */
export async function editConfigFile(
  location: ConfigLocation,
  edit: (document: ConfigDocument) => void,
): Promise<void> {
  const text = await readText(location);
  const document = parseJson(text, location.file);
  const before = parseConfig(document).problems;
  if (before.length > 0) throw configError(location.file, before);
  edit(document as ConfigDocument);
  const after = parseConfig(document).problems;
  if (after.length > 0) throw configError(`${location.file}, so changed,`, after);
  await writePrivateFile(location.file, `${JSON.stringify(document, null, indentOf(text))}\n`);
}

/**
 * Writes a file that only its owner may read: under a temporary name first, so that no reader sees
 * a partial file.
 */
export async function writePrivateFile(path: string, content: string): Promise<void> {
  try {
    await replaceFile(path, content);
  } catch (cause) {
    const remedy = 'Make room and let this user write there, or name another file with --config.';
    const message = `cannot write ${path}: ${(cause as Error).message}. ${remedy}`;
    throw new CommandError(EXIT.failure, message, { cause });
  }
}

async function replaceFile(path: string, content: string): Promise<void> {
  await mkdir(dirname(path), { recursive: true, mode: 0o700 });
  // A symbolic link, for instance into a folder of dotfiles, stays a link.
  const target = await realpath(path).catch(() => path);
  const temporary = `${target}.${randomBytes(6).toString('hex')}.tmp`;
  try {
    await writeFile(temporary, content, { flag: 'wx', mode: 0o600, flush: true });
    await rename(temporary, target);
  } finally {
    await rm(temporary, { force: true });
  }
}

async function readText({ file, named }: ConfigLocation): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    const isMissing = (cause as NodeJS.ErrnoException).code === 'ENOENT';
    if (isMissing && !named) return '{}';
    const remedy = isMissing ? ' Name another with --config, or create it with enroll.' : '';
    const message = `cannot read the configuration: ${(cause as Error).message}.${remedy}`;
    throw new CommandError(EXIT.notFound, message, { cause });
  }
}

function parseJson(text: string, file: string): unknown {
  try {
    // Editors on Windows write a byte order mark at the start.
    return JSON.parse(text.replace(/^\uFEFF/, ''));
  } catch (cause) {
    const message = `${file} is not JSON: ${(cause as Error).message}. Correct it by hand.`;
    throw new CommandError(EXIT.usage, message, { cause });
  }
}

/** The file's own indentation, else two spaces. */
function indentOf(text: string): string {
  return /^[{[]\r?\n([ \t]+)/.exec(text)?.[1] ?? '  ';
}

// Where an agent's files are: all of them beside its configuration file.

export interface ConfigLocation {
  readonly file: string;
  /** The agent's own token for the coordinator (0600). */
  readonly tokenFile: string;
  /** Control socket and lock (0700). */
  readonly stateDir: string;
  /** Whether the user named the file: a named file must exist. */
  readonly named: boolean;
}

export function configLocation(path: string, named: boolean): ConfigLocation {
  const file = resolve(path);
  return { file, tokenFile: `${file}.token`, stateDir: `${file}.state`, named };
}
