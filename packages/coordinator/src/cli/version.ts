/** The version of this program, as package.json has it. */
import { readFileSync } from 'node:fs';
import { print, printJson } from '@inference-gateway/shared/program/print';
import { PROTOCOL_VERSION } from '@inference-gateway/shared/protocol/version';
import type { Command } from 'commander';
import * as z from 'zod';
import { example, jsonOption } from './options.js';
import type { JsonOption } from './options.js';

const manifest = z.object({ version: z.string() });

export function addVersion(program: Command): void {
  program
    .command('version')
    .description('print the version of this program')
    .addOption(jsonOption())
    .addHelpText('after', example('version'))
    .action(printVersion);
}

function printVersion({ json }: JsonOption): void {
  const file = new URL('../../package.json', import.meta.url);
  const { version } = manifest.parse(JSON.parse(readFileSync(file, 'utf8')));
  if (json !== true) return print(version);
  printJson({ version, protocol: PROTOCOL_VERSION, node: process.versions.node });
}
