import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { FormDialog } from '../../ui/form/form-dialog.js';
import { NameField } from '../../ui/form/name-field.js';
import { toast } from '../../ui/dialog/toasts.js';
import type { Network } from './networks.js';

interface InviteMemberProps {
  readonly network: Network;
  readonly onDone: () => Promise<void>;
  readonly onClose: () => void;
}

/** Somebody who has an account here already, and says themselves whether they want to be in it. */
export function InviteMember({ network, onDone, onClose }: InviteMemberProps) {
  const [member, setMember] = useState('');
  const invite = async (): Promise<void> => {
    const invited = await my('network.add', { network: network.id, member: member.trim() });
    toast(`${invited.member} is invited to ${invited.name}. They find it under Network.`);
    await onDone();
  };
  return (
    <FormDialog
      title={`Invite a member to ${network.name}`}
      verb="Invite"
      action={invite}
      onClose={onClose}
    >
      <NameField
        hint="As others see them here. Whoever has no account yet needs an invite link."
        value={member}
        onValue={setMember}
      />
    </FormDialog>
  );
}
