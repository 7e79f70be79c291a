import { expect, test } from 'vitest';
import { report as mediaReport } from '../../bench/media/report.js';
import { report } from '../../bench/relay/report.js';
import { Samples } from '../../bench/samples.js';
import { percentilesOf } from '../../bench/statistics.js';
import { judge } from '../../bench/targets.js';
import type { Target } from '../../bench/targets.js';

const half: Target = {
  says: 'rate against the hop',
  goal: 0.5,
  better: 'more',
  unit: ' ×',
  measure: (of) => of('gateway', 'rate') / of('hop', 'rate'),
};

test('a target is judged by the medians of all rounds', () => {
  const samples = new Samples(['hop', 'gateway']);
  for (const rate of [100, 100, 9_000]) samples.add('hop', 'rate', rate);
  for (const rate of [1, 60, 70]) samples.add('gateway', 'rate', rate);
  expect(judge(half, samples)).toEqual({ value: 0.6, verdict: 'met' });
  expect(judge({ ...half, better: 'less' }, samples).verdict).toBe('missed');
});

test('what was not measured is neither met nor missed', () => {
  const samples = new Samples(['gateway']);
  samples.add('gateway', 'rate', 60);
  expect(judge(half, samples).verdict).toBe('not measured');
});

test('percentiles are values that occurred', () => {
  const values = Array.from({ length: 10_000 }, (_, i) => 10_000 - i);
  const shares = { p50: 5_001, p95: 9_501, p99: 9_901, p999: 9_991, max: 10_000 };
  expect(percentilesOf(values)).toEqual(shares);
});

test('the report shows every subject and a dash for what it could not do', () => {
  const samples = new Samples(['direct', 'hop', 'gateway', 'portkey']);
  samples.add('direct', 'json16.p50', 1);
  samples.add('gateway', 'json16.p50', 3.5);
  const text = report(samples);
  expect(text).toMatch(/JSON chat, 16 connections/);
  expect(text).toMatch(/\n\| gateway +\| +– +\| +– +\| +3\.50 \| +2\.50 \|/);
  expect(text).toMatch(/\n\| portkey +\| +– /);
  expect(text).toMatch(/not measured \|\n/);
});

test('the report on files holds each of their targets against what was measured', () => {
  const samples = new Samples(['direct', 'hop', 'gateway']);
  for (const [subject, rate] of [
    ['direct', 2_000],
    ['hop', 1_000],
    ['gateway', 600],
  ] as const) {
    samples.add(subject, 'upload.rate', rate);
    samples.add(subject, 'crowd.added', rate / 10);
  }
  samples.add('gateway', 'memory.growth.coordinator', 15);
  samples.add('gateway', 'memory.growth.agent', 17);
  samples.add('hop', 'upload.cpu.hop', 0.7);
  const text = mediaReport(samples);
  expect(text).toMatch(/\n\| gateway +\| +600 \| +0\.60 \| +0\.30 \|/);
  expect(text).toMatch(/\n\| hop +\| +0\.70 \|/);
  expect(verdicts(text)).toEqual([
    'met',
    'not measured',
    'not measured',
    'met',
    'missed',
    'missed',
  ]);
});

function verdicts(text: string): string[] {
  const rows = text.slice(text.indexOf('| Target')).split('\n').slice(2);
  return rows.map((row) => row.split('|').at(-2)?.trim() ?? '');
}
