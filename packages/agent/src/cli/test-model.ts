/** `gateway-agent test`: sends one tiny real request to a model. */
import { CommandError, EXIT } from '@inference-gateway/shared/program/command-error';
import { printJson, printRecord } from '@inference-gateway/shared/program/print';
import type { Fields } from '@inference-gateway/shared/program/print';
import type { Command } from 'commander';
import { loadConfig } from '../config/config.js';
import type { ConfigLocation } from '../config/file.js';
import { findFfmpeg } from '../media/ffmpeg.js';
import { askAgent } from '../state/control.js';
import { configOption, enterConfig, example, jsonOption } from './options.js';
import type { ConfigOption, JsonOption } from './options.js';
import { decodeTestReport, testReport } from './reports.js';
import type { TestReport } from './reports.js';

interface TestOptions extends ConfigOption, JsonOption {
  readonly service?: string;
}

interface Wanted {
  readonly model: string;
  readonly service: string | null;
}

/** Longer than a local server may take to list its models. */
const FIRST_ROUND_MS = 10_000;

export function addTest(program: Command): void {
  program
    .command('test')
    .description('ask a model of this machine one tiny question; exits 9 if it fails')
    .argument('<model>', 'as "status" shows it')
    .option('--service <id>', 'which one, if several services have the model')
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText('after', example('test llama3.2:3b'))
    .action(test);
}

async function test(model: string, options: TestOptions): Promise<void> {
  const location = enterConfig(options.config);
  const wanted = { model, service: options.service ?? null };
  const answer = await askAgent(location.stateDir, 'test', { args: { ...wanted, limit_ms: null } });
  const report =
    answer === null ? await testHere(location, wanted) : decodeTestReport(answer.result);
  if (options.json === true) printJson(report);
  else printRecord(readable(report));
  if (!report.ok) throw failureOf(report);
}

/** If no agent runs. The result is not stored. */
async function testHere(location: ConfigLocation, wanted: Wanted): Promise<TestReport> {
  // Loaded on demand: every other command starts without the prover.
  const { Catalog } = await import('../backends/catalog/catalog.js');
  const config = await loadConfig(location);
  const tools = { ffmpeg: await findFfmpeg(config.ffmpeg) };
  const catalog = new Catalog(config.services, { tools, firstRoundMs: FIRST_ROUND_MS });
  try {
    await catalog.start();
    return testReport(await catalog.test({ ...wanted, limitMs: null }));
  } finally {
    catalog.close();
  }
}

function readable(report: TestReport): Fields {
  const { model, service, type, ok, ms, reason } = report;
  return {
    model,
    service: `${service} (${type})`,
    ok,
    first_byte: report.first_byte_ms === null ? null : `${report.first_byte_ms} ms`,
    whole: `${ms} ms`,
    came: whatCame(report),
    reason,
  };
}

function whatCame({ tokens, bytes, seconds }: TestReport): string {
  const counts = [
    ...(tokens === null ? [] : [`${tokens} tokens`]),
    ...(seconds === null ? [] : [`${seconds} s of sound`]),
    `${bytes} bytes`,
  ];
  return counts.join(', ');
}

function failureOf({ model, service, reason, cut }: TestReport): CommandError {
  const message = `${model} of ${service} did not pass: ${reason}`;
  if (cut === 'unreachable') return new CommandError(EXIT.localServerUnreachable, message);
  return new CommandError(cut === 'stopped' ? EXIT.failure : EXIT.checkFailed, message);
}
