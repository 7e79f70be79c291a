/** `main.ts` for the single executable, which is also the process that reads the graphics cards. */
import { tuneHeap } from '@inference-gateway/shared/program/heap';
import { runProgram } from '@inference-gateway/shared/program/run-program';
import { createProgram } from './cli/program.js';
import { GRAPHICS_PROGRAM } from './own-files.js';

void start();

async function start(): Promise<void> {
  if (process.argv[2] === GRAPHICS_PROGRAM && process.send !== undefined) {
    await import('./hardware/graphics-process.js');
    return;
  }
  tuneHeap(300);
  await runProgram(createProgram(), process.argv);
}
