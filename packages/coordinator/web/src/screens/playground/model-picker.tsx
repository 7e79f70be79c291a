import type { ComponentChildren } from 'preact';
import { SelectField } from '../../ui/field.js';
import { LinkButton } from '../../ui/button.js';
import { Empty, FaultState, Loading } from '../../ui/states.js';
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
  // A link may name one that has gone; its error says what to do, and a job waits for it.
  const all =
    isOnline || value === '' ? options : [{ value, label: `${value} · not online` }, ...options];
  return <SelectField label={label} value={value} options={all} onValue={onValue} />;
}

interface WithModelsProps {
  readonly models: Models;
  /** What such a model does: "Chatting". */
  readonly what: string;
  readonly children: (list: readonly TryableModel[]) => ComponentChildren;
}

/** What needs a model, or why there is none. */
export function WithModels({ models, what, children }: WithModelsProps) {
  const { list, fault } = models;
  if (list === undefined) {
    if (fault === null) return <Loading rows={6} />;
    return <FaultState fault={fault} onRetry={() => void models.refresh()} />;
  }
  if (list.length > 0) return <>{children(list)}</>;
  return (
    <Empty
      icon="plug"
      title={`No model for ${what} is online.`}
      text="Add a GPU that serves one, or ask on your network for one to be shared with you."
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
