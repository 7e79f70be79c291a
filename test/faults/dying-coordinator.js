// Runs the coordinator's program, which kills itself at the moment that argv[2] names.
import { FolderStore } from '@inference-gateway/coordinator/assets/folder-store';
import { JobRun } from '@inference-gateway/coordinator/jobs/job-run';
import { JobRuns } from '@inference-gateway/coordinator/jobs/claims';
import { Jobs } from '@inference-gateway/coordinator/jobs/jobs';
import { RunEnds } from '@inference-gateway/coordinator/jobs/ends';

// Each is called directly after the write before it, with nothing in between.
const MOMENTS = {
  'claim written, nothing sent': [JobRuns.prototype, 'start'],
  'answer whole, end not written': [RunEnds.prototype, 'write'],
  'end written, agent not told': [JobRun.prototype, 'acknowledge'],
  'member disabled, jobs not ended': [Jobs.prototype, 'cancel'],
  'member deleted, files not removed': [FolderStore.prototype, 'remove'],
};

const [moment = ''] = process.argv.splice(2, 1);
const [prototype, method] = MOMENTS[moment];
prototype[method] = () => process.kill(process.pid, 'SIGKILL');
await import('@inference-gateway/coordinator/main');
