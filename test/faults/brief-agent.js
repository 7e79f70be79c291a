// Runs the agent's program, which on SIGTERM lets work go on for argv[2] ms in place of 30 s.
import { WorkRunner } from '@inference-gateway/agent/work/runner';
import { setTimeout as pause } from 'node:timers/promises';

const [limitMs = ''] = process.argv.splice(2, 1);
/** @type {(this: WorkRunner) => Promise<void>} */
const drained = Reflect.get(WorkRunner.prototype, 'drained');
WorkRunner.prototype.drained = function drainedOrOver() {
  return Promise.race([drained.call(this), pause(Number(limitMs))]);
};
await import('@inference-gateway/agent/main');
