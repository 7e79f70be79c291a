/**
 * Secrets reach a command by file or stdin, never by argument: arguments are visible to other
 * users.
 */
import { readFile } from 'node:fs/promises';
import { text } from 'node:stream/consumers';
import { hash } from 'node:crypto';
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
