/** The filters of the list, as its address has them. */
import { ENDPOINTS, ENDPOINT_KEYS } from '@inference-gateway/shared/endpoints';
import { JOB_STATUSES } from '../../api/jobs.js';
import type { Job } from '../../api/jobs.js';
import { useClearQuery, useQuery } from '../../ui/query.js';

export interface JobFilter {
  /** A status, `active`, or empty for every one. */
  readonly status: string;
  readonly type: string;
  readonly model: string;
  readonly setStatus: (value: string) => void;
  readonly setType: (value: string) => void;
  readonly setModel: (value: string) => void;
  readonly clear: () => void;
  /** What the coordinator is asked, to follow the limit. */
  readonly asked: string;
  /** Of what the coordinator cannot be asked. */
  readonly fits: (job: Job) => boolean;
  readonly isSet: boolean;
  /** By type or model, which looks only through the jobs that are loaded. */
  readonly isOfLoaded: boolean;
}

export function useJobFilter(): JobFilter {
  const [written, setWritten] = useQuery('status');
  const [active, setActive] = useQuery('active');
  const [type, setType] = useQuery('type');
  const [model, setModel] = useQuery('model');
  const clear = useClearQuery();
  const status = active === '1' ? 'active' : statusOf(written);
  const setStatus = (value: string): void => {
    setActive(value === 'active' ? '1' : '');
    setWritten(value === 'active' ? '' : value);
  };
  const wanted = model.trim().toLowerCase();
  return {
    status,
    type,
    model,
    setStatus,
    setType,
    setModel,
    clear,
    asked: askedFor(status),
    fits: (job) =>
      (type === '' || job.inference_type === type) && job.model.toLowerCase().includes(wanted),
    isSet: status !== '' || type !== '' || wanted !== '',
    isOfLoaded: type !== '' || wanted !== '',
  };
}

/** Of what can be a job. */
export const TYPES = [
  ...new Set(ENDPOINT_KEYS.flatMap((key) => ENDPOINTS[key].inferenceType ?? [])),
];

/** An address may have been typed by hand. */
function statusOf(written: string): string {
  return JOB_STATUSES.find((one) => one === written) ?? '';
}

function askedFor(status: string): string {
  if (status === 'active') return '&active=1';
  return status === '' ? '' : `&status=${status}`;
}
