/** Runs a program, of the name in the first argument, as a user to whom nothing here belongs. */
import { runProgram } from '@inference-gateway/shared/program/run-program';

const [name = ''] = process.argv.splice(2, 1);
const { createProgram } = await import(`@inference-gateway/${name}/cli/program`);
// Nor may that user read this folder, perhaps: what is needed is loaded before.
if (name === 'coordinator') await import('@inference-gateway/coordinator/coordinator');
if (process.getuid?.() === 0) {
  process.setgid(65_534);
  process.setuid(65_534);
}
await runProgram(createProgram(), process.argv);
