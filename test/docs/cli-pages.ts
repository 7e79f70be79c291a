/** The pages of `docs/cli`. */
import { readFileSync, readdirSync } from 'node:fs';
import type { ProgramName } from '../support/bundled-programs.js';

interface Page {
  readonly file: string;
  readonly text: string;
}

const FOLDER = new URL('../../docs/cli/', import.meta.url);

/** The page of a program, and those of its commands. */
export function pagesOf(program: ProgramName): Page[] {
  const start = program.replace('gateway-', '');
  return readdirSync(FOLDER)
    .filter((file) => file === `${program}.md` || file.startsWith(`${start}-`))
    .map((file) => ({ file, text: readFileSync(new URL(file, FOLDER), 'utf8') }));
}
