import type { ComponentChildren } from 'preact';
import { SelectField } from '../../ui/form/field.js';
import { LinkButton } from '../../ui/button/button.js';
import { Loaded } from '../../ui/table/loaded.js';
import { Empty } from '../../ui/table/states.js';
import { describeModel } from './models.js';
import type { Models, TryableModel } from './models.js';

interface ModelPickerProps {
  readonly label?: string;
  readonly models: readonly TryableModel[];
  readonly value: string;
  readonly onValue: (model: string) => void;
}

export function ModelPicker({ label = 'Model', models, value, onValue }: ModelPickerProps) {
  const isOnline = models.some(({ id }) => id === value);
  const options = models.map((model) => ({ value: model.id, label: describeModel(model) }));
  // A link may name a model that is offline. A call to it gets an error with the next step; a job
  // waits for it.
  const all =
    isOnline || value === '' ? options : [{ value, label: `${value} · not online` }, ...options];
  return <SelectField label={label} value={value} options={all} onValue={onValue} />;
}

interface WithModelsProps {
  readonly models: Models;
  /** What such a model is used for: "Chatting". */
  readonly what: string;
  readonly children: (list: readonly TryableModel[]) => ComponentChildren;
}

/** Shows its children if there is a model, and otherwise why there is none. */
export function WithModels({ models, what, children }: WithModelsProps) {
  return (
    <Loaded of={{ ...models, data: models.list }} rows={6}>
      {(list) => (list.length === 0 ? <NoModel what={what} /> : children(list))}
    </Loaded>
  );
}

function NoModel({ what }: Pick<WithModelsProps, 'what'>) {
  return (
    <Empty
      icon="plug"
      title={`No model for ${what} is online.`}
      text="Add a GPU that serves one, or ask somebody in your network to share one."
    >
      <div class="row">
        <LinkButton href="/providers" tone="primary" icon="cpu">
          Providers
        </LinkButton>
        <LinkButton href="/network" icon="users">
          Network
        </LinkButton>
      </div>
    </Empty>
  );
}
