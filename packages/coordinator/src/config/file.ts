/** The coordinator's configuration file: one JSON object of settings, their names in lower case. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { readFileSync } from 'node:fs';
import { dirname, resolve } from 'node:path';
import * as z from 'zod';
import { SETTINGS, didYouMean } from './settings.js';

export interface ConfigFile {
  /** By name, as text: a number or `true` in the file is the same as in the environment. */
  readonly values: ReadonlyMap<string, string>;
  readonly problems: readonly string[];
}

const DATA_KEY = 'data';
const value = z.union([z.string(), z.number(), z.boolean()]).transform(String);

/** Throws a `CommandError` (exit 3) where the file is missing; all else is told as problems. */
export function readConfigFile(path: string): ConfigFile {
  const document = parse(read(path));
  if (document === null) {
    return { values: new Map(), problems: [`${path} is not a JSON object, like {"port": 7070}.`] };
  }
  const known = Object.values(SETTINGS).map(({ name }) => name.toLowerCase());
  const values = new Map<string, string>();
  const problems: string[] = [];
  for (const [key, written] of Object.entries(document)) {
    const decoded = value.safeParse(written);
    if (!known.includes(key)) {
      problems.push(`${key} in ${path} is no setting of this program.${didYouMean(key, known)}`);
    } else if (decoded.success) {
      values.set(key, key === DATA_KEY ? besideFile(path, decoded.data) : decoded.data);
    } else {
      const shown = JSON.stringify(written);
      problems.push(`${key} in ${path} is ${shown}: allowed is text, a number, true or false.`);
    }
  }
  return { values, problems };
}

/**
 * A file in /etc is read from any working directory: a relative folder in it is relative to the
 * file.
 */
function besideFile(path: string, folder: string): string {
  return folder === '' ? '' : resolve(dirname(path), folder);
}

function read(path: string): string {
  try {
    return readFileSync(path, 'utf8');
  } catch (cause) {
    const message = `cannot read the configuration file ${path}: ${(cause as Error).message}`;
    throw new CommandError(EXIT.notFound, message, { cause });
  }
}

function parse(text: string): Record<string, unknown> | null {
  try {
    return z.record(z.string(), z.unknown()).parse(JSON.parse(text));
  } catch {
    return null;
  }
}
