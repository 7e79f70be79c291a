/** `docs/job-states.md` and `core/jobs/job.ts` say the same. */
import {
  JOB_EVENTS,
  JOB_STATUSES,
  isFinished,
  nextStatus,
} from '@inference-gateway/coordinator/core/jobs/job';
import { readFileSync } from 'node:fs';
import { expect, test } from 'vitest';
import { tableRows } from '../support/markdown-table.js';

const text = readFileSync(new URL('../../docs/job-states.md', import.meta.url), 'utf8');

test('the table of the document is the table of the program, every state by every event', () => {
  const heading = text.split('\n').find((line) => line.startsWith('| State '));
  expect(heading?.split(/[\s|]+/).slice(2, -1)).toEqual([...JOB_EVENTS]);
  const rows = tableRows(text, 'State');
  expect(rows.map(([status]) => status)).toEqual([...JOB_STATUSES]);
  for (const [i, status] of JOB_STATUSES.entries()) {
    const told = JOB_EVENTS.map((event) => nextStatus(status, event) ?? '–');
    expect(rows[i]?.slice(1)).toEqual(told);
  }
});

test('the chart has every change of state of the table, and no other', () => {
  const arrow = /^\s+(\w+) --> (\w+): (.+)$/;
  const drawn = new Set<string>();
  for (const line of text.split('\n')) {
    const [, from, to, label] = arrow.exec(line) ?? [];
    if (label === undefined) continue;
    for (const event of JOB_EVENTS.filter((one) => label.split(/[ ,]+/).includes(one))) {
      drawn.add(`${from} ${event} ${to}`);
    }
  }
  const told = JOB_STATUSES.flatMap((status) =>
    JOB_EVENTS.flatMap((event) => {
      const next = nextStatus(status, event);
      return next === null || next === status ? [] : [`${status} ${event} ${next}`];
    }),
  );
  expect([...drawn].toSorted()).toEqual(told.toSorted());
});

test('every event is explained', () => {
  for (const event of JOB_EVENTS) expect(text).toMatch(new RegExp(`\\*\\*${event}\\*\\*`));
});

test('only finished states are left by nothing but a retry', () => {
  for (const status of JOB_STATUSES) {
    const events = JOB_EVENTS.filter((event) => nextStatus(status, event) !== null);
    if (isFinished(status)) expect(events.filter((event) => event !== 'retry')).toEqual([]);
    else expect(events).toContain('cancel');
  }
});
