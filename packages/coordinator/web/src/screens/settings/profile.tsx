import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { currentSession, loadSession } from '../../api/session.js';
import { useAct } from '../../ui/form/act.js';
import { Badge } from '../../ui/figures/badge.js';
import { Button } from '../../ui/button/button.js';
import { Facts } from '../../ui/text/facts.js';
import { NameField } from '../../ui/form/name-field.js';
import { FaultText } from '../../ui/table/states.js';
import { toast } from '../../ui/dialog/toasts.js';

export function Profile() {
  const { member } = currentSession();
  const [name, setName] = useState(member.name);
  const act = useAct(async () => {
    await my('user.rename', { name: name.trim() });
    await loadSession();
    toast('Your name is changed.');
  });
  const submit = (event: Event): void => {
    event.preventDefault();
    void act.run();
  };
  return (
    <form class="card form reading" onSubmit={submit}>
      <h2>You</h2>
      <NameField
        autofocus={false}
        hint="Everybody in your networks sees it, beside your GPUs as well."
        autocomplete="nickname"
        value={name}
        onValue={setName}
      />
      <Facts
        rows={[
          ['E-mail', member.email],
          ['Role', <Badge>{member.role}</Badge>],
        ]}
      />
      <p class="soft small">
        You log in with this address. Only an admin can change it, or the role.
      </p>
      <FaultText fault={act.fault} />
      <div class="row">
        <Button
          type="submit"
          tone="primary"
          busy={act.isBusy}
          disabled={name.trim() === member.name}
        >
          Save
        </Button>
      </div>
    </form>
  );
}
