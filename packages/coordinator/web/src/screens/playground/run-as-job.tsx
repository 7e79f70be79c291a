import { useLocation } from 'preact-iso';
import { useAct } from '../../ui/form/act.js';
import type { Act } from '../../ui/form/act.js';
import { Check } from '../../ui/form/field.js';
import { submitJob } from './call.js';
import type { ApiRequest } from './call.js';

interface AsyncSwitchProps {
  readonly checked: boolean;
  readonly onChecked: (checked: boolean) => void;
}

export function AsyncSwitch(props: AsyncSwitchProps) {
  return <Check {...props} label="Run as a job (async)" />;
}

/** Queues a request and opens the job. `run` resolves to whether the coordinator accepted it. */
export function useJobAct(): Act<[ApiRequest]> {
  const { route } = useLocation();
  return useAct(async (request: ApiRequest) => route(`/jobs/${await submitJob(request)}`));
}
