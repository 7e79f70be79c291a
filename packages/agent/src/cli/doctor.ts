/** `gateway-agent doctor`: finds faults on this machine and on the way to the coordinator. */
import { reportChecks } from '@inference-gateway/shared/program/check';
import type { Command } from 'commander';
import type { TestCall } from '../checks/patient.js';
import { askAgent } from '../state/control.js';
import { askRunning } from './ask-running.js';
import { configOption, enterConfig, example, jsonOption } from './options.js';
import type { ConfigOption, JsonOption } from './options.js';
import { decodeStatusReport, decodeTestReport } from './reports.js';

export function addDoctor(program: Command): void {
  program
    .command('doctor')
    .description('check this machine for problems; exits 9 if there are any')
    .addOption(jsonOption())
    .addOption(configOption())
    .addHelpText('after', example('doctor'))
    .action(doctor);
}

async function doctor({ config, json }: ConfigOption & JsonOption): Promise<void> {
  // Loaded on demand: it imports many modules that no other command needs.
  const { examine } = await import('../checks/examine.js');
  const location = enterConfig(config);
  const answer = await askAgent(location.stateDir, 'status');
  const running = answer === null ? null : decodeStatusReport(answer.result);
  const test = async (service: string, limitMs: number): Promise<TestCall> =>
    decodeTestReport(await askRunning(config, 'test', { model: null, service, limit_ms: limitMs }));
  reportChecks(await examine({ location, running, test }), json === true);
}
