import { admin } from '../../api/commands.js';
import { currentSession } from '../../api/session.js';
import { plural } from '../../ui/text/format.js';
import { DeleteUser } from './delete-user.js';
import type { RowAction } from './row-menu.js';
import { SetLimits } from './set-limits.js';
import { SetPassword } from './set-password.js';
import type { User } from './user.js';

/** What one may do with somebody; whoever locks themselves out needs the command line. */
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
    ...(user.sessions === 0 ? [] : [endSessions(user)]),
    ...(isSelf ? [] : [changeRole(user), changeState(user), remove(user)]),
  ];
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
      ? 'They keep their keys, providers and networks, and no longer see this part.'
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
