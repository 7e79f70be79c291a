import { ENDPOINTS, ENDPOINT_KEYS } from '@inference-gateway/shared/endpoints';
import type { JobDetail } from '../../api/jobs.js';
import { currentSession } from '../../api/session.js';
import { Code } from '../../ui/text/code.js';
import { CopyButton } from '../../ui/button/copy.js';
import { formatBytes } from '../../ui/text/format.js';
import { KEY_VARIABLE, snippetOf } from '../../ui/snippets/snippets.js';
import { Loading } from '../../ui/table/states.js';
import type { JobFacts } from './job-facts.js';

interface JobRequestProps {
  readonly job: JobDetail;
  readonly facts: JobFacts | undefined;
}

/** The request as it was sent, as long as it is kept. */
export function JobRequest({ job, facts }: JobRequestProps) {
  const curl = facts?.request ? curlOf(job, facts.request) : null;
  return (
    <section class="card">
      <div class="card-head">
        <h2>Request</h2>
        {curl !== null && <CopyButton text={curl} label="Copy as curl" />}
      </div>
      {facts === undefined ? <Loading rows={3} /> : <Body facts={facts} />}
    </section>
  );
}

function Body({ facts }: { readonly facts: JobFacts }) {
  const { request, request_bytes: bytes } = facts;
  if (request !== null) {
    return (
      <div class="job-body">
        <Code text={indented(request)} label="Copy the request" />
      </div>
    );
  }
  return (
    <p class="soft">
      {bytes === null
        ? 'Requests are erased as soon as a job is done.'
        : `It has ${formatBytes(bytes)}, which is too much to show.`}
    </p>
  );
}

function indented(json: string): string {
  try {
    return JSON.stringify(JSON.parse(json), null, 2);
  } catch {
    return json;
  }
}

/** The job as a curl command; null if the body or the endpoint cannot be shown as one. */
function curlOf({ endpoint: path }: JobDetail, request: string): string | null {
  const endpoint = ENDPOINT_KEYS.find((key) => `/v1${ENDPOINTS[key].path}` === path);
  const body = readObject(request);
  if (endpoint === undefined || body === null) return null;
  return snippetOf('curl', {
    baseUrl: currentSession().gateway.base_url,
    key: KEY_VARIABLE,
    endpoint,
    body: { ...body, async: true },
  });
}

function readObject(json: string): Readonly<Record<string, unknown>> | null {
  try {
    const value: unknown = JSON.parse(json);
    return typeof value === 'object' && value !== null ? { ...value } : null;
  } catch {
    return null;
  }
}
