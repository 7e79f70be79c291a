import type { ComponentChildren } from 'preact';
import { useEffect } from 'preact/hooks';
import '../../style/layout.css';
import '../../style/text.css';
import mark from '../../style/mark.svg?url';

interface WelcomeProps {
  readonly title: string;
  readonly lead: string;
  readonly children: ComponentChildren;
}

/** The layout of screens without a session. */
export function Welcome({ title, lead, children }: WelcomeProps) {
  useEffect(() => {
    document.title = `${title} · Inference Gateway`;
  }, [title]);
  return (
    <section class="stack">
      <div class="row">
        <img src={mark} alt="" width={36} height={36} />
        <h1>{title}</h1>
      </div>
      <p class="soft">{lead}</p>
      {children}
    </section>
  );
}
