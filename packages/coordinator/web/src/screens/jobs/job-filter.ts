/** The filters of the list, as its address has them. */
import { INFERENCE_TYPES } from '@inference-gateway/shared/endpoints';
import { JOB_STATUSES } from '../../api/jobs.js';
import { useClearQuery, useQuery, useSettled } from '../../ui/form/query.js';

export interface JobFilter {
  /** A status, `active`, or empty for every one. */
  readonly status: string;
  /** Empty for every one. */
  readonly type: string;
  /** As it is being typed. */
  readonly model: string;
  readonly setStatus: (value: string) => void;
  readonly setType: (value: string) => void;
  readonly setModel: (value: string) => void;
  readonly clear: () => void;
  /** What the coordinator is asked, to follow the limit; empty where every job is wanted. */
  readonly asked: string;
}

export function useJobFilter(): JobFilter {
  const [written, setWritten] = useQuery('status');
  const [active, setActive] = useQuery('active');
  const [writtenType, setType] = useQuery('type');
  const [model, setModel] = useQuery('model');
  const clear = useClearQuery();
  const status = active === '1' ? 'active' : known(JOB_STATUSES, written);
  const setStatus = (value: string): void => {
    setActive(value === 'active' ? '1' : '');
    setWritten(value === 'active' ? '' : value);
  };
  const type = known(INFERENCE_TYPES, writtenType);
  const part = useSettled(model).trim();
  return {
    status,
    type,
    model,
    setStatus,
    setType,
    setModel,
    clear,
    asked: askedFor({ status, type, model: part }),
  };
}

/** An address may have been typed by hand. */
function known(values: readonly string[], written: string): string {
  return values.includes(written) ? written : '';
}

function askedFor({ status, type, model }: Pick<JobFilter, 'status' | 'type' | 'model'>): string {
  const asked = new URLSearchParams();
  if (status === 'active') asked.set('active', '1');
  else if (status !== '') asked.set('status', status);
  if (type !== '') asked.set('type', type);
  if (model !== '') asked.set('model', model);
  return asked.size === 0 ? '' : `&${asked}`;
}
