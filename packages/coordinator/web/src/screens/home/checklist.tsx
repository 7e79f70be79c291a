import { my } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { IconButton } from '../../ui/button/icon-button.js';
import { Icon } from '../../ui/button/icon.js';
import { toast } from '../../ui/dialog/toasts.js';
import { useToastedAct } from '../../ui/form/act.js';

type Steps = MyResult<'home.show'>['checklist'];

interface Step {
  readonly isDone: boolean;
  readonly title: string;
  /** Why, in a line. */
  readonly text: string;
  readonly href: string;
}

interface ChecklistProps {
  readonly steps: Steps;
  readonly onChange: () => Promise<void>;
}

/** Shown until every step is done, or the member closes it. */
export function Checklist({ steps, onChange }: ChecklistProps) {
  const close = useToastedAct(async () => {
    await my('home.checklist', { closed: true });
    await onChange();
    toast('The list is closed. Settings → Profile shows it again.');
  });
  const list = stepsOf(steps);
  if (steps.closed || list.every(({ isDone }) => isDone)) return null;
  return (
    <section class="section">
      <div class="card-head">
        <h2>First steps</h2>
        <IconButton icon="x" label="Close the list" onClick={() => void close.run()} />
      </div>
      <ol class="checklist">
        {list.map(({ isDone, title, text, href }) => (
          <li key={title} class={isDone ? 'done' : ''}>
            <Icon name={isDone ? 'circle-check' : 'arrow-right'} />
            <div>
              {isDone ? <b>{title}</b> : <a href={href}>{title}</a>}
              {isDone && <span class="unseen"> (done)</span>}
              <p class="soft small">{text}</p>
            </div>
          </li>
        ))}
      </ol>
    </section>
  );
}

/** A member without a GPU has nothing to share. */
function stepsOf(steps: Steps): readonly Step[] {
  const share: Step = {
    isDone: steps.has_shared,
    title: 'Share it',
    text: 'Until then only you can use it. Your own calls stay first.',
    href: '/network?invite=1',
  };
  return [
    {
      isDone: steps.has_provider,
      title: 'Add a GPU',
      text: 'One line on the machine that has it, or use what others share with you.',
      href: '/providers?new=1',
    },
    ...(steps.has_provider ? [share] : []),
    {
      isDone: steps.has_invited,
      title: 'Invite someone',
      text: 'A network of friends keeps working while your machine is off.',
      href: '/network?invite=1',
    },
    {
      isDone: steps.has_key,
      title: 'Make a key',
      text: 'Your programs call with it. It is shown once.',
      href: '/settings/token',
    },
    {
      isDone: steps.has_called,
      title: 'Make the first call',
      text: 'It shows that everything works: here in the playground, or from your program.',
      href: '/playground',
    },
  ];
}
