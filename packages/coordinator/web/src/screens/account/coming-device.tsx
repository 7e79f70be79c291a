import { useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { LinkButton } from '../../ui/button/button.js';
import { Empty } from '../../ui/table/states.js';
import { machineOf } from './device-login.js';
import type { DeviceLogin } from './device-login.js';

interface ComingDeviceProps {
  readonly login: DeviceLogin;
  /** The ids of the providers that were there before. */
  readonly known: ReadonlySet<string>;
}

/** Approved: it fetches its token within seconds, and connects. */
export function ComingDevice({ login, known }: ComingDeviceProps) {
  const { data } = useMy('provider.list', {}, { topics: ['providers'] });
  const provider = data?.find(({ id }) => !known.has(id));
  return <div role="status">{provider?.online ? <Online {...provider} /> : waiting(login)}</div>;
}

function waiting(login: DeviceLogin) {
  return (
    <Empty
      icon="clock"
      title={`Approved. Waiting for ${machineOf(login)} to connect…`}
      text="It asks every few seconds. If nothing happens, look at the terminal where it logs in."
    />
  );
}

function Online({ id, name, approved }: MyResult<'provider.list'>[number]) {
  const text = approved
    ? 'You can use its models now. Others can once you share them.'
    : 'An admin has to approve it before it gets work.';
  return (
    <Empty icon="circle-check" title={`${name} is online.`} text={text}>
      <LinkButton tone="primary" href={`/providers/${id}`}>
        Choose what to share
      </LinkButton>
    </Empty>
  );
}
