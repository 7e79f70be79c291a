// Runs the coordinator's program, which kills itself at the moment of a job that argv[2] names.
import { JobRun } from '@inference-gateway/coordinator/dispatch/job-run';
import { JobRuns } from '@inference-gateway/coordinator/dispatch/job-runs';
import { RunEnds } from '@inference-gateway/coordinator/dispatch/run-ends';

// Each is called right after what is written before it, and nothing comes between.
const MOMENTS = {
  'claim written, nothing sent': [JobRuns.prototype, 'start'],
  'answer whole, end not written': [RunEnds.prototype, 'write'],
  'end written, agent not told': [JobRun.prototype, 'acknowledge'],
};

const [moment = ''] = process.argv.splice(2, 1);
const [prototype, method] = MOMENTS[moment];
prototype[method] = () => process.kill(process.pid, 'SIGKILL');
await import('@inference-gateway/coordinator/main');
