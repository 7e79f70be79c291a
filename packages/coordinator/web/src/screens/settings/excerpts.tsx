import { useState } from 'preact/hooks';
import { my } from '../../api/commands.js';
import { currentSession, loadSession } from '../../api/session.js';
import { Confirm } from '../../ui/dialog/dialog.js';
import { toast } from '../../ui/dialog/toasts.js';
import { useToastedAct } from '../../ui/form/act.js';
import { Check } from '../../ui/form/field.js';

/** Whether excerpts of the member's requests are kept. */
export function Excerpts() {
  const isOn = currentSession().member.excerpts;
  const [isAsking, setAsking] = useState(false);
  const turnOn = useToastedAct(() => turn(true));
  return (
    <section class="card reading stack">
      <h2>Excerpts of your requests</h2>
      <Check
        label="Keep an excerpt of each request, by which you find its job or file again"
        checked={isOn}
        disabled={turnOn.isBusy}
        onChecked={(on) => {
          if (on) void turnOn.run();
          else setAsking(true);
        }}
      />
      <p class="soft small">
        Up to 80 letters, for at most 30 days. Only you see them: no admin, no webhook and no log
        has them. They are erased with their job or file.
      </p>
      {isAsking && (
        <Confirm
          title="Erase your excerpts?"
          text="Jobs and files are named by their models then, and so are those to come."
          verb="Erase excerpts"
          action={() => turn(false)}
          onClose={() => setAsking(false)}
        />
      )}
    </section>
  );
}

async function turn(on: boolean): Promise<void> {
  await my('user.excerpts', { on });
  await loadSession();
  toast(on ? 'Excerpts are kept from now on.' : 'Your excerpts are erased.');
}
