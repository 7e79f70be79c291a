/**
 * Secrets reach a command by file or stdin, never by argument: arguments are visible to other
 * users.
 */
import { readFile, writeFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { hash, randomBytes } from 'node:crypto';
import { CommandError, EXIT } from './command-error.js';

/**
 * Reads a secret from a file, or from stdin if the name is `-`; surrounding white space is removed.
 */
export async function readSecret(file: string): Promise<string> {
  const content = file === '-' ? await text(process.stdin) : await readNamedFile(file);
  const secret = content.trim();
  if (secret === '') {
    throw new CommandError(
      EXIT.usage,
      `${file === '-' ? 'stdin' : file} is empty: it must hold the secret.`,
    );
  }
  return secret;
}

/** Reads a file that its user named; a missing one exits 3. */
export async function readNamedFile(file: string): Promise<string> {
  try {
    return await readFile(file, 'utf8');
  } catch (cause) {
    throw new CommandError(EXIT.notFound, `cannot read ${file}: ${(cause as Error).message}`, {
      cause,
    });
  }
}

/** SHA-256 of a secret, hex: only this is stored. Its 256 random bits need no salt. */
export function hashSecret(secret: string): string {
  return hash('sha256', secret, 'hex');
}

const KEPT_BYTES = 32;

/** Random bytes that outlive the process, in hex in a file for its owner alone, made if missing. */
export async function keptSecret(path: string): Promise<Buffer> {
  const made = randomBytes(KEPT_BYTES);
  try {
    await writeFile(path, `${made.toString('hex')}\n`, { flag: 'wx', mode: 0o600, flush: true });
    return made;
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EEXIST') throw error;
  }
  const kept = Buffer.from((await readFile(path, 'utf8')).trim(), 'hex');
  if (kept.length === KEPT_BYTES) return kept;
  throw new Error(`${path} does not hold ${KEPT_BYTES} bytes in hex. Delete it, and start again.`);
}
