import { useState } from 'preact/hooks';
import { admin, useAdmin } from '../../api/commands.js';
import { formatCount } from '../../ui/text/format.js';
import { TextField } from '../../ui/form/field.js';
import { toast } from '../../ui/dialog/toasts.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import type { User } from './user.js';
import { LISTS } from './every.js';

interface SetLimitsProps {
  readonly user: User;
  readonly onClose: () => void;
}

/** What one member may ask for; an empty field is the gateway's default. */
export function SetLimits({ user, onClose }: SetLimitsProps) {
  const { id, name } = user;
  const [requests, setRequests] = useState(asText(user.limits?.requests));
  const [concurrent, setConcurrent] = useState(asText(user.limits?.concurrent));
  const defaults = useAdmin('system.show', {}, LISTS).data?.limits;
  const limits = useAdmin('limit.show', { member: null }, LISTS);
  const save = async (): Promise<void> => {
    const wanted = { requests: asLimit(requests), concurrent: asLimit(concurrent) };
    await admin('limit.set', { member: id, ...wanted });
    await limits.refresh();
    toast(`The limits of ${name} are changed.`);
  };
  return (
    <FormDialog title={`Limits of ${name}`} verb="Save" action={save} onClose={onClose}>
      <TextField
        label="Requests a window"
        hint={`Empty: the default${told(defaults?.['rate_limit_requests'])}.`}
        type="number"
        min={1}
        max={1_000_000}
        value={requests}
        onValue={setRequests}
      />
      <TextField
        label="Requests at once"
        hint={`Empty: the default${told(defaults?.['max_concurrent'])}.`}
        type="number"
        min={1}
        max={100_000}
        value={concurrent}
        onValue={setConcurrent}
      />
    </FormDialog>
  );
}

function asText(limit: number | null | undefined): string {
  return limit === null || limit === undefined ? '' : String(limit);
}

function asLimit(text: string): number | null {
  return text === '' ? null : Number(text);
}

function told(limit: number | string | boolean | undefined): string {
  return typeof limit === 'number' ? `, ${formatCount(limit)}` : '';
}
