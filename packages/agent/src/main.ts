/** `gateway-agent`: from argv to an exit code. */
import { runProgram } from '@inference-gateway/shared/program/run-program';
import { createProgram } from './cli/program.js';

await runProgram(createProgram(), process.argv);
