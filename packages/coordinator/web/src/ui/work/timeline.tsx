import type { ComponentChildren } from 'preact';
import { formatDate } from '../text/dates.js';
import { Ago } from '../text/time.js';
import './timeline.css';

export interface Moment {
  readonly key: string;
  readonly mood: 'past' | 'now' | 'good' | 'bad';
  readonly title: string;
  /** Unix ms; null if the entry has no time. */
  readonly at: number | null;
  readonly note?: ComponentChildren;
}

/** The events of a job or a request, in their order. */
export function Timeline({ moments }: { readonly moments: readonly Moment[] }) {
  return (
    <ol class="timeline">
      {moments.map(({ key, mood, title, at, note }) => (
        <li key={key} class={mood}>
          <span>
            <strong>{title}</strong>{' '}
            {at !== null && (
              <span class="soft">
                <Ago at={at} />
              </span>
            )}
          </span>
          {at !== null && <span class="soft small">{formatDate(at)}</span>}
          {note !== undefined && note !== null && <span class="small">{note}</span>}
        </li>
      ))}
    </ol>
  );
}
