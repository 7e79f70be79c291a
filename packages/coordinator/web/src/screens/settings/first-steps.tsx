import { my } from '../../api/commands.js';
import { Button } from '../../ui/button/button.js';
import { toast } from '../../ui/dialog/toasts.js';
import { useToastedAct } from '../../ui/form/act.js';

/** Brings back the checklist that was closed on Home. */
export function FirstSteps() {
  const show = useToastedAct(async () => {
    await my('home.checklist', { closed: false });
    toast('Home shows the list until every step is done.');
  });
  return (
    <section class="card reading stack">
      <h2>First steps</h2>
      <p class="soft">The list on Home from your first GPU to your first call.</p>
      <div class="row">
        <Button busy={show.isBusy} onClick={() => void show.run()}>
          Show the list on Home
        </Button>
      </div>
    </section>
  );
}
