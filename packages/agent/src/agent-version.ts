/** The version of this program, as package.json has it. */
import { readFileSync } from 'node:fs';
import * as z from 'zod';

const manifest = z.object({ version: z.string() });

export const AGENT_VERSION = manifest.parse(
  JSON.parse(readFileSync(new URL('../package.json', import.meta.url), 'utf8')),
).version;
