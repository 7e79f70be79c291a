/** OPEN: what an agent is told of one piece of work before its bytes. */
import type { Message } from '@inference-gateway/shared/protocol/messages';
import type { OpenRequest, Upload } from '../core/routing/links.js';
import type { SlotUse } from './slot-counts.js';

export function openMessage(
  request: OpenRequest,
  { stream, use }: { readonly stream: number; readonly use: SlotUse },
): Message<'OPEN'> {
  const { job, uploads } = request;
  return {
    t: 'OPEN',
    stream,
    kind: job === null ? 'sync' : 'job',
    endpoint: request.endpoint,
    service_id: use.serviceId,
    model: request.model,
    caller: request.caller,
    body: { bytes: request.body.length },
    ...(use.slots > 1 && { parallel: use.slots }),
    ...(uploads.length > 0 && { parts: uploads.map(announce) }),
    ...(request.reasoningField !== undefined && { reasoning_field: request.reasoningField }),
    deadline_ms: request.deadlineMs,
    ...(job !== null && { job_id: job.jobId, claim_id: job.claimId }),
    attempt: request.attempt,
    request_id: request.requestId,
  };
}

function announce({ name, contentType, bytes }: Upload): {
  name: string;
  content_type: string;
  bytes: number;
} {
  return { name, content_type: contentType, bytes };
}
