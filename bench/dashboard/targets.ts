/** What the dashboard holds itself to. */
import { atMost } from '../targets.js';
import type { Read, Target } from '../targets.js';
import { QUESTIONS } from './answers.js';
import { LONG_LISTS } from './long-lists.js';
import { STATES } from './tabs.js';

export const TARGETS: readonly Target[] = [
  within({ most: 15, unit: 'KiB', says: 'app shell, gzip', metrics: ['shell.gzip'] }),
  inMs(1_000, 'Home with its first figure, cold cache', 'open.home'),
  inMs(1_000, 'log-in page, cold cache', 'open.login'),
  ...STATES.map((state) => {
    const says = `coordinator CPU, tabs on a gateway that is ${state}`;
    return within({ most: 5, unit: '% of a core', says, metrics: [`${state}.cpu`] });
  }),
  atMost(1.1, 'coordinator RSS with tabs, at the end against the beginning', (of) =>
    Math.max(...STATES.map((s) => of('gateway', `${s}.rss.end`) / of('gateway', `${s}.rss.begin`))),
  ),
  inMs(50, 'the slowest of the answers, p50', ...answers('p50')),
  inMs(50, 'the slowest of the answers, p99', ...answers('p99')),
  ...Object.keys(LONG_LISTS).flatMap((name) => [
    inMs(1_000, `${name}: first row, cold cache`, `list.${name}.drawn`),
    inMs(100, `${name}: longest task while it scrolls`, `list.${name}.scroll.task`),
  ]),
];

function answers(share: string): string[] {
  return Object.keys(QUESTIONS).map((metric) => `answer.${metric}.${share}`);
}

interface Limit {
  readonly says: string;
  readonly metrics: readonly string[];
  readonly most: number;
  readonly unit: string;
}

/** The worst of several, so that none hides behind another. */
function within({ says, metrics, most, unit }: Limit): Target {
  const worst = (of: Read): number => Math.max(...metrics.map((metric) => of('gateway', metric)));
  return { ...atMost(most, says, worst), unit: ` ${unit}` };
}

function inMs(most: number, says: string, ...metrics: readonly string[]): Target {
  return within({ most, says, metrics, unit: 'ms' });
}
