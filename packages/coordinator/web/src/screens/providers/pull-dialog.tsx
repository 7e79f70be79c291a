import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { Button } from '../../ui/button/button.js';
import { Icon } from '../../ui/button/icon.js';
import { Dialog } from '../../ui/dialog/dialog.js';
import { useAct } from '../../ui/form/act.js';
import { SelectField, TextField } from '../../ui/form/field.js';
import { FaultText } from '../../ui/table/states.js';
import { formatBytes } from '../../ui/text/format.js';
import type { Activity, ModelServer, OwnModels } from './own-models.js';
import type { OwnProvider } from './own-providers.js';
import { PullProgress } from './pull-progress.js';

interface PullDialogProps {
  readonly provider: OwnProvider;
  readonly models: OwnModels;
  /** The name that is filled in. */
  readonly named?: string;
  readonly onChange: () => Promise<void>;
  readonly onClose: () => void;
}

/** Asks for a name, then shows the pull until it has ended; closing it does not stop the pull. */
export function PullDialog({ provider, models, named = '', onChange, onClose }: PullDialogProps) {
  const [begun, setBegun] = useState<Activity | null>(null);
  const pull = models.activities.find(({ id }) => id === begun?.id) ?? begun;
  return (
    <Dialog title={`Pull a model to ${provider.name}`} onClose={onClose}>
      {pull === null ? (
        <PullForm {...{ provider, models, named, onChange, onClose }} onBegun={setBegun} />
      ) : (
        <Pulling {...{ provider, models, onChange, onClose, pull }} />
      )}
    </Dialog>
  );
}

/** The agent's rule: `models/model-name.ts` there. */
const RULE =
  'As the server’s own library calls it: qwen3:8b, or owner/model. No address, no other registry.';

const MAX_CHARACTERS = 200;

function PullForm(props: PullDialogProps & { readonly onBegun: (pull: Activity) => void }) {
  const { provider, models, named = '', onChange, onClose, onBegun } = props;
  const servers = models.servers.filter(({ can }) => can.includes('pull'));
  const [service, setService] = useState(servers[0]?.service_id ?? '');
  const [model, setModel] = useState(named.slice(0, MAX_CHARACTERS));
  const act = useAct(async () => {
    onBegun(
      await my('provider.model-pull', { provider: provider.id, service, model: model.trim() }),
    );
    await onChange();
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  const server = servers.find((one) => one.service_id === service);
  return (
    <form class="form" onSubmit={submit}>
      {servers.length > 1 && (
        <SelectField
          label="Service"
          value={service}
          options={servers.map((one) => ({ value: one.service_id, label: labelOf(one) }))}
          onValue={setService}
        />
      )}
      <TextField
        label="Name"
        hint={RULE}
        value={model}
        onValue={setModel}
        autocomplete="off"
        autofocus
        required
        maxLength={MAX_CHARACTERS}
      />
      <p class="small soft">{server === undefined ? '' : roomBefore(models, server)}</p>
      <FaultText fault={act.fault} />
      <div class="dialog-foot">
        <Button onClick={onClose}>Close</Button>
        <Button type="submit" tone="primary" busy={act.isBusy}>
          Pull
        </Button>
      </div>
    </form>
  );
}

function labelOf({ service_id: id, backend }: ModelServer): string {
  return `${id} (${backend})`;
}

function roomBefore(models: OwnModels, { free_bytes: free }: ModelServer): string {
  const left = formatBytes(Math.max(0, models.max_bytes - models.used_bytes));
  const limit = `You let pulled models have ${left} more.`;
  if (free === null) return `${limit} How much its disk has left is not known here.`;
  const kept = formatBytes(models.min_free_bytes);
  return `${limit} Its disk has ${formatBytes(free)} left; ${kept} of them stay free.`;
}

function Pulling(props: PullDialogProps & { readonly pull: Activity }) {
  const { provider, models, onChange, onClose, pull } = props;
  const cancel = useAct(async () => {
    await my('pull.cancel', { provider: provider.id, action: pull.id });
    await onChange();
  });
  const server = models.servers.find(({ services }) => services.includes(pull.service_id));
  const isRunning = pull.state === 'running';
  return (
    <div class="stack">
      {isRunning ? (
        <PullProgress pull={pull} freeBytes={server?.free_bytes ?? null} />
      ) : (
        <Ended pull={pull} />
      )}
      <FaultText fault={cancel.fault} />
      <div class="dialog-foot">
        {pull.can_cancel && (
          <Button busy={cancel.isBusy} onClick={() => void cancel.run()}>
            Cancel the pull
          </Button>
        )}
        <Button tone={isRunning ? 'plain' : 'primary'} onClick={onClose}>
          {isRunning ? 'Close, and let it go on' : 'Done'}
        </Button>
      </div>
    </div>
  );
}

function Ended({ pull: { model, state, message } }: { readonly pull: Activity }) {
  if (state === 'done') {
    return (
      <p class="good joining" role="status">
        <Icon name="circle-check" /> {model} is there. It is offered like the service’s other
        models.
      </p>
    );
  }
  return (
    <p class="warn" role="status">
      {state === 'canceled' ? `The pull of ${model} is canceled.` : `It failed: ${message}`}
    </p>
  );
}
