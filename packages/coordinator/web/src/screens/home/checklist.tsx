import type { MyResult } from '../../api/commands.js';
import { Icon } from '../../ui/button/icon.js';

type Steps = MyResult<'home.show'>['checklist'];

interface Step {
  readonly isDone: boolean;
  readonly title: string;
  readonly text: string;
  readonly href: string;
}

/** For whoever is new; it goes when all is done. A GPU of one's own is not needed to call. */
export function Checklist({ steps }: { readonly steps: Steps }) {
  const list = toList(steps);
  if (list.every(({ isDone }) => isDone)) return null;
  return (
    <section class="section">
      <h2>Get going</h2>
      <ol class="checklist">
        {list.map(({ isDone, title, text, href }) => (
          <li key={href} class={isDone ? 'done' : ''}>
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

function toList(steps: Steps): readonly Step[] {
  return [
    {
      isDone: steps.has_key,
      title: 'Make a key',
      text: 'What your programs call with. It is shown once.',
      href: '/settings/token',
    },
    {
      isDone: steps.has_provider,
      title: 'Add a GPU',
      text: 'Two commands on the machine that has it. Or use what others share with you.',
      href: '/providers',
    },
    {
      isDone: steps.has_called,
      title: 'Make the first call',
      text: 'Here in the playground, or from your own program.',
      href: '/playground',
    },
  ];
}
