/** Runs a program, named by the first argument, as a user who owns no files here. */
import { runProgram } from '@inference-gateway/shared/program/run-program';

const [name = ''] = process.argv.splice(2, 1);
const { createProgram } = await import(`@inference-gateway/${name}/cli/program`);
// That user may be unable to read this folder, so the modules are loaded first.
if (process.argv[2] === 'start') await import('@inference-gateway/coordinator/coordinator');
if (process.getuid?.() === 0) {
  process.setgid(65_534);
  process.setuid(65_534);
}
await runProgram(createProgram(), process.argv);
