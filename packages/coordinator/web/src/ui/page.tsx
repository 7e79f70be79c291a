import type { ComponentChildren } from 'preact';
import { useEffect, useRef } from 'preact/hooks';
import '../style/layout.css';
import '../style/text.css';
import { Ago } from './text/time.js';

interface PageProps {
  readonly title: string;
  /** In place of the title, which is then only that of the window and of the browser's history. */
  readonly heading?: ComponentChildren;
  /** A sentence below the title, if the title is not enough. */
  readonly lead?: ComponentChildren;
  readonly actions?: ComponentChildren;
  /** Unix ms of the last answer, if it is too old. */
  readonly staleSince?: number | null;
  readonly children: ComponentChildren;
}

/** Screen readers announce the title of the first screen themselves. */
let isFirst = true;

/** A screen, with its title in the window and in the heading, which gets the focus. */
export function Page(props: PageProps) {
  const { title, heading = title, lead, actions, staleSince = null, children } = props;
  const head = useRef<HTMLHeadingElement>(null);
  useEffect(() => {
    document.title = `${title} · Inference Gateway`;
  }, [title]);
  useEffect(() => {
    if (!isFirst) head.current?.focus();
    isFirst = false;
  }, []);
  return (
    <>
      <header class="page-head">
        <h1 ref={head} tabIndex={-1}>
          {heading}
        </h1>
        {staleSince !== null && (
          <span class="badge warn dot">
            stale since <Ago at={staleSince} />
          </span>
        )}
        {actions !== undefined && <div class="actions">{actions}</div>}
        {lead !== undefined && <p class="lead">{lead}</p>}
      </header>
      {children}
    </>
  );
}
