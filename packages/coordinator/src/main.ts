/** `gateway-coordinator`: from argv to an exit code. */
import { tuneHeap } from '@inference-gateway/shared/program/heap';
import { runProgram } from '@inference-gateway/shared/program/run-program';
import { createProgram } from './cli/program.js';

tuneHeap(200);
await runProgram(createProgram(), process.argv);
