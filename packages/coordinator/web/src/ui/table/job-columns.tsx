import type { ComponentChildren } from 'preact';
import type { Job } from '../../api/jobs.js';
import { StatusBadge } from '../figures/badge.js';
import type { Column } from './table.js';

/** The first columns of every job table; `below` is under the model on narrow screens. */
export function jobColumns(below: (job: Job) => ComponentChildren): readonly Column<Job>[] {
  return [
    { head: 'Status', ifWide: true, cell: ({ status }) => <StatusBadge status={status} /> },
    {
      head: 'Model',
      isName: true,
      below,
      cell: ({ id, model }) => (
        <a class="mono" href={`/jobs/${id}`}>
          {model}
        </a>
      ),
    },
  ];
}
