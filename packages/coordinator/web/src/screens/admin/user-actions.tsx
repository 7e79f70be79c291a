import { useState, useEffect } from 'preact/hooks';
import { admin, useAdmin } from '../../api/commands.js';
import { currentSession } from '../../api/session.js';
import { plural, formatCount } from '../../ui/text/format.js';
import { NewPasswordField } from '../../ui/form/password-field.js';
import { toast } from '../../ui/dialog/toasts.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import { TextField } from '../../ui/form/field.js';
import { QuotaFields, quotaOf, typedQuota } from '../../ui/form/quota-fields.js';
import { useAct } from '../../ui/form/act.js';
import { Button } from '../../ui/button/button.js';
import { Dialog, OnceDialog } from '../../ui/dialog/dialog.js';
import { Code } from '../../ui/text/code.js';
import { FaultText, Loading } from '../../ui/table/states.js';
import type { RowAction } from '../../ui/table/row-menu.js';
import type { User } from './user.js';
import { LISTS } from './every.js';

/** Actions on a member; admins who lock themselves out need the command line. */
export function userActions(user: User): readonly RowAction[] {
  const isSelf = user.id === currentSession().member.id;
  return [
    {
      kind: 'form',
      text: 'Set limits',
      form: (close) => <SetLimits user={user} onClose={close} />,
    },
    {
      kind: 'form',
      text: 'Set a password',
      form: (close) => <SetPassword user={user} onClose={close} />,
    },
    ...(user.state === 'disabled' ? [] : [makeResetLink(user)]),
    ...(user.sessions === 0 ? [] : [endSessions(user)]),
    ...(isSelf ? [] : [changeRole(user), changeState(user), remove(user)]),
  ];
}

function makeResetLink(user: User): RowAction {
  return {
    kind: 'form',
    text: 'Make a reset link',
    form: (close) => <ResetLink user={user} onClose={close} />,
  };
}

/** For members who have forgotten their password: they choose the new one themselves. */
function ResetLink({ user: { id, name }, onClose }: SetPasswordProps) {
  const [link, setLink] = useState<string | null>(null);
  const make = async (): Promise<boolean> => {
    const made = await admin('user.reset-link', { member: id });
    setLink(`${made.origin ?? location.origin}/reset#${made.secret}`);
    return false;
  };
  if (link !== null) {
    return (
      <OnceDialog title={`The reset link for ${name}`} what="the link" onClose={onClose}>
        <p>
          Send it to {name} yourself. It is shown only now, and sets their password once, within an
          hour. Their browsers are logged out then, and they are told on Home.
        </p>
        <Code text={link} label="Copy the link" />
      </OnceDialog>
    );
  }
  return (
    <FormDialog
      title={`A reset link for ${name}`}
      verb="Make the link"
      action={make}
      onClose={onClose}
    >
      <p>
        With it {name} chooses a new password. Until then the old one works. It replaces a link that
        was made before.
      </p>
    </FormDialog>
  );
}

function endSessions({ id, name, sessions }: User): RowAction {
  return {
    kind: 'ask',
    text: 'Log out everywhere',
    title: `Log ${name} out everywhere?`,
    explain: `${plural(sessions, 'browser')} must log in again. Keys stay as they are.`,
    async run() {
      await admin('user.logout', { session: id });
      return `${name} is logged out everywhere.`;
    },
  };
}

function changeRole({ id, name, role }: User): RowAction {
  const isAdmin = role === 'admin';
  return {
    kind: 'ask',
    text: isAdmin ? 'Make a member' : 'Make an admin',
    title: isAdmin ? `Take the admin role from ${name}?` : `Make ${name} an admin?`,
    explain: isAdmin
      ? 'They keep their keys, providers and networks, and no longer see Admin.'
      : 'They may do everything here: see all jobs, approve providers, and disable anybody.',
    async run() {
      await admin('user.role', { member: id, role: isAdmin ? 'member' : 'admin' });
      return isAdmin ? `${name} is a member now.` : `${name} is an admin now.`;
    },
  };
}

function changeState(user: User): RowAction {
  return user.state === 'active' ? disable(user) : enable(user);
}

function disable({ id, name }: User): RowAction {
  return {
    kind: 'ask',
    text: 'Disable',
    title: `Disable ${name}?`,
    explain:
      'Their keys stop working, their providers go offline, and they are logged out. ' +
      'Nothing is deleted; they can be enabled again.',
    async run() {
      await admin('user.disable', { member: id });
      return `${name} is disabled.`;
    },
  };
}

function enable({ id, name }: User): RowAction {
  return {
    kind: 'now',
    text: 'Enable',
    async run() {
      await admin('user.enable', { member: id });
      return `${name} is enabled.`;
    },
  };
}

function remove(user: User): RowAction {
  return {
    kind: 'form',
    text: 'Delete',
    danger: true,
    form: (close) => <DeleteUser user={user} onClose={close} />,
  };
}

interface SetPasswordProps {
  readonly user: User;
  readonly onClose: () => void;
}

/** For members who have forgotten their password. */
function SetPassword({ user: { id, name }, onClose }: SetPasswordProps) {
  const [password, setPassword] = useState('');
  const save = async (): Promise<void> => {
    await admin('user.password', { member: id, password });
    toast(`${name} has a new password.`);
  };
  return (
    <FormDialog
      title={`A new password for ${name}`}
      verb="Set the password"
      action={save}
      onClose={onClose}
    >
      <p>
        Tell it to {name} yourself; they can change it in their settings. They are logged out in
        every browser.
      </p>
      <NewPasswordField label="New password" value={password} onValue={setPassword} />
    </FormDialog>
  );
}

interface SetLimitsProps {
  readonly user: User;
  readonly onClose: () => void;
}

/** The limits of one member; an empty field means the gateway's default. */
function SetLimits({ user, onClose }: SetLimitsProps) {
  const { id, name } = user;
  const [requests, setRequests] = useState(asText(user.limits?.requests));
  const [concurrent, setConcurrent] = useState(asText(user.limits?.concurrent));
  const [quota, setQuota] = useState(() => typedQuota(user.limits));
  const used = useAdmin('user.show', { member: id }, LISTS).data?.used;
  const defaults = useAdmin('system.show', {}, LISTS).data?.limits;
  const limits = useAdmin('limit.show', { member: null }, LISTS);
  const save = async (): Promise<void> => {
    const wanted = { requests: asLimit(requests), concurrent: asLimit(concurrent) };
    await admin('limit.set', { member: id, ...wanted, ...(user.limits && quotaOf(quota)) });
    await limits.refresh();
    toast(`The limits of ${name} are changed.`);
  };
  return (
    <FormDialog title={`Limits of ${name}`} verb="Save" action={save} onClose={onClose}>
      <TextField
        label="Requests in a window"
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
      <QuotaFields value={quota} used={used} onValue={setQuota} />
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

interface DeleteUserProps {
  readonly user: User;
  readonly onClose: () => void;
}

/** First shows the consequences, with the texts of the command line. */
function DeleteUser({ user: { id, name, email }, onClose }: DeleteUserProps) {
  const [consequences, setConsequences] = useState<readonly string[] | null>(null);
  const [typed, setTyped] = useState('');
  const users = useAdmin('user.list', {}, LISTS);
  const preview = useAct(async () => {
    setConsequences((await admin('user.delete', { member: id, dry_run: true })).consequences);
  });
  useEffect(() => void preview.run(), [id]);
  const remove = useAct(async () => {
    await admin('user.delete', { member: id, dry_run: false });
    toast(`${name} is deleted.`);
    await users.refresh();
  });
  const submit = async (event: Event): Promise<void> => {
    event.preventDefault();
    if (await remove.run()) onClose();
  };
  const isMeant = [name, email].some((one) => one.toLowerCase() === typed.trim().toLowerCase());
  return (
    <Dialog title={`Delete ${name}?`} onClose={onClose}>
      <form class="form" onSubmit={(event) => void submit(event)}>
        <p>This cannot be undone. To keep their data and shut them out, disable them instead.</p>
        <FaultText fault={preview.fault} />
        {consequences === null && preview.fault === null && <Loading rows={3} />}
        {consequences !== null && (
          <ul aria-label="Consequences">
            {consequences.map((line) => (
              <li key={line}>{line}</li>
            ))}
          </ul>
        )}
        <TextField
          label={`Type ${name} or ${email} to confirm`}
          autocomplete="off"
          value={typed}
          onValue={setTyped}
        />
        <FaultText fault={remove.fault} />
        <div class="dialog-foot">
          <Button onClick={onClose}>Keep it</Button>
          <Button
            type="submit"
            tone="danger"
            busy={remove.isBusy}
            disabled={!isMeant || consequences === null}
          >
            Delete
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
