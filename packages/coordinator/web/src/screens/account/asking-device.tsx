import { my, readMy } from '../../api/commands.js';
import { useAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Facts } from '../../ui/text/facts.js';
import { FaultText } from '../../ui/table/states.js';
import { Ago } from '../../ui/text/time.js';
import { machineOf } from './device-login.js';
import type { DeviceLogin } from './device-login.js';

interface AskingDeviceProps {
  readonly login: DeviceLogin;
  /** With the ids of the providers that were there before. */
  readonly onApproved: (known: ReadonlySet<string>) => void;
  readonly onDenied: () => void;
  readonly onBack: () => void;
}

/** What asks, to be compared with what one has before oneself. */
export function AskingDevice({ login, onApproved, onDenied, onBack }: AskingDeviceProps) {
  const { code } = login;
  const approve = useAct(async () => {
    const before = await readMy('provider.list', {});
    await my('device.approve', { code });
    onApproved(new Set(before.map(({ id }) => id)));
  });
  const deny = useAct(async () => {
    await my('device.deny', { code });
    onDenied();
  });
  const isBusy = approve.isBusy || deny.isBusy;
  return (
    <section class="card stack">
      <h2>Is this your machine?</h2>
      <Facts rows={rowsOf(login)} />
      <p class="soft">
        Approve it only if it shows this code now, and you started the log-in yourself. It will run
        work of yours, and of whoever you share it with. Nothing is shared yet.
      </p>
      <FaultText fault={approve.fault ?? deny.fault} />
      <div class="row">
        <Button tone="primary" busy={isBusy} onClick={() => void approve.run()}>
          Approve {machineOf(login)}
        </Button>
        <Button tone="danger" busy={isBusy} onClick={() => void deny.run()}>
          Deny
        </Button>
        <Button tone="quiet" disabled={isBusy} onClick={onBack}>
          Back
        </Button>
      </div>
    </section>
  );
}

function rowsOf({ code, name, host, address, created_at, expires_at, owner }: DeviceLogin) {
  return [
    ['Code', <span class="mono">{code}</span>],
    ['Name', name ?? 'chosen when it joins'],
    ['Host', host],
    ['Address', <span class="mono">{address}</span>],
    ['Asked', <Ago at={created_at} />],
    ['Code ends', <Ago at={expires_at} />],
    ['Owner', `${owner} (you)`],
  ] as const;
}
