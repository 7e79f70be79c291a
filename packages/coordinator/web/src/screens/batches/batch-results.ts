import { JOBS, withEach } from '../../api/jobs.js';
import type { BatchDetail, JobDetail } from '../../api/jobs.js';
import { requestJson } from '../../api/request.js';

/** A line of JSON a job, in the order of the batch. Throws a `Fault`. */
export async function batchResults({ jobs }: BatchDetail): Promise<string> {
  const lines = new Map<string, string>();
  const { fault } = await withEach(
    jobs.map(({ id }) => id),
    async (id) => {
      const job = await requestJson<JobDetail>(`${JOBS}/${id}`);
      lines.set(id, JSON.stringify(lineOf(job)));
    },
  );
  // A file with holes looks as if it were whole.
  if (fault !== null) throw fault;
  const texts = jobs.map(({ id, index }) => `{"index":${index},${lines.get(id)?.slice(1)}`);
  return `${texts.join('\n')}\n`;
}

function lineOf({ id, status, model, endpoint, result, assets, error }: JobDetail) {
  return { id, status, model, endpoint, result: result ?? null, assets, error };
}
