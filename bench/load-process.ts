/**
 * The load generator: a separate process that does one job at a time and sends back its
 * measurements.
 */
import { assertNever } from '@inference-gateway/shared/assert';
import type { Job, JobResult } from './load/job.js';
import { batchLoad, fileLoad, jobsLoad, readLoad, startLoad } from './load/job-load.js';
import { openLoad } from './load/open-load.js';
import { closedLoad, steadyLoad } from './load/request-load.js';
import { streamLoad } from './load/stream-load.js';
import { tabsLoad } from './load/tabs-load.js';

process.on('message', (job: Job) => {
  run(job).then(
    (result) => process.send?.({ result }),
    (error: unknown) => process.send?.({ error: String(error) }),
  );
});
process.on('disconnect', () => process.exit());

function run(job: Job): Promise<JobResult<Job>> {
  switch (job.kind) {
    case 'closed':
      return closedLoad(job);
    case 'steady':
      return steadyLoad(job);
    case 'open':
      return openLoad(job);
    case 'streams':
      return streamLoad(job);
    case 'jobs':
      return jobsLoad(job);
    case 'batch':
      return batchLoad(job);
    case 'file':
      return fileLoad(job);
    case 'starts':
      return startLoad(job);
    case 'reads':
      return readLoad(job);
    case 'tabs':
      return tabsLoad(job);
    default:
      return assertNever(job);
  }
}
