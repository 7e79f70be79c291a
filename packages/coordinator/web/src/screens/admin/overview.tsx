import { useAdmin } from '../../api/commands.js';
import { Attention } from '../../ui/dialog/attention.js';
import { formatCount } from '../../ui/text/format.js';
import { Tile } from '../../ui/figures/tile.js';
import { LISTS } from './every.js';
import { WaitingDevices } from './waiting-devices.js';
import { WaitingProviders, isWaiting } from './waiting-providers.js';
import { warningsOf } from './warnings.js';

/** What waits for an admin, then what is wrong, then how large it all is. */
export function Overview() {
  return (
    <>
      <Warnings />
      <Counts />
      <WaitingProviders />
      <WaitingDevices />
      <NobodyWaits />
    </>
  );
}

function Warnings() {
  const system = useAdmin('system.show', {}, LISTS);
  const queue = useAdmin('queue.summary', {}, LISTS);
  const fault = system.fault ?? queue.fault;
  const isKnown = system.data !== undefined && queue.data !== undefined;
  if (!isKnown && fault !== null) return <p class="bad">{fault.message}</p>;
  const warnings = isKnown ? warningsOf(system.data, queue.data) : undefined;
  return <Attention items={warnings} label="Warnings" calm="The gateway is well." />;
}

function Counts() {
  const users = useAdmin('user.list', {}, LISTS).data;
  const providers = useAdmin('provider.list', {}, LISTS).data;
  const queue = useAdmin('queue.summary', {}, LISTS).data;
  const keys = useAdmin('key.list', { user: null }, LISTS).data;
  const online = providers?.filter((one) => one.online).length ?? 0;
  return (
    <div class="tiles">
      <Tile
        label="Users"
        figure={users && formatCount(users.filter(({ state }) => state === 'active').length)}
        note="active"
        href="/admin/users"
      />
      <Tile
        label="Providers online"
        figure={providers && `${formatCount(online)}/${formatCount(providers.length)}`}
        note="of everybody"
        href="/admin/providers"
      />
      <Tile
        label="Running"
        figure={queue && formatCount(queue.processing)}
        note="jobs"
        href="/admin/jobs?status=active"
      />
      <Tile
        label="Queued"
        figure={queue && formatCount(queue.queued)}
        note="jobs"
        href="/admin/jobs?status=QUEUED"
      />
      <Tile
        label="Keys"
        figure={keys && formatCount(keys.filter(({ state }) => state === 'active').length)}
        note="active"
        href="/admin/keys"
      />
    </div>
  );
}

function NobodyWaits() {
  const providers = useAdmin('provider.list', {}, LISTS).data;
  const devices = useAdmin('device.list', {}, LISTS).data;
  if (providers?.some(isWaiting) !== false || devices?.length !== 0) return null;
  return <p class="soft">No provider and no machine waits for approval.</p>;
}
