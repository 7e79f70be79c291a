import type { UsageRow } from '@inference-gateway/coordinator/store/port';
import {
  MAX_BUFFERED_ROWS,
  UsageBuffer,
} from '@inference-gateway/coordinator/store/client/usage-buffer';
import { ApiError } from '@inference-gateway/shared/errors';
import { expect, test } from 'vitest';
import { until } from '../support/until.js';
import { usageRow } from './store-rows.js';

test('rows are written by themselves, those of a moment together', async () => {
  const { buffer, groups } = recorder();
  buffer.add([usageRow(0)]);
  buffer.add([usageRow(1), usageRow(2)]);
  expect(groups).toEqual([]);
  await until(() => groups.length > 0);
  expect(groups).toEqual([['req_0', 'req_1', 'req_2']]);
});

test('many rows do not wait, and go in groups of 500 at most', async () => {
  const { buffer, groups } = recorder();
  buffer.add(rows(0, 1_150));
  await buffer.flush();
  expect(groups.map((group) => group.length)).toEqual([500, 500, 150]);
  expect(groups.flat()).toEqual(rows(0, 1_150).map(({ requestId }) => requestId));
});

test('rows that cannot be written now are written later, in their order', async () => {
  const { buffer, groups, lost, fail } = recorder();
  fail(new ApiError('storage_unavailable', 'The disk is full.'));
  buffer.add(rows(0, 300));
  await buffer.flush();
  buffer.add(rows(300, 301));
  expect(groups).toEqual([]);
  fail(null);
  await until(() => groups.flat().length === 301);
  expect(groups.flat()).toEqual(rows(0, 301).map(({ requestId }) => requestId));
  expect(lost).toEqual([]);
});

test('rows that the database refuses are told and not tried again', async () => {
  const { buffer, groups, lost, fail } = recorder();
  fail(new Error('CHECK constraint failed'));
  buffer.add(rows(0, 3));
  await buffer.flush();
  fail(null);
  buffer.add(rows(3, 4));
  await buffer.close();
  expect(lost).toEqual([[3, 'CHECK constraint failed']]);
  expect(groups).toEqual([['req_3']]);
});

test('beyond the limit the oldest rows are lost, and told', async () => {
  const { buffer, groups, lost, fail } = recorder();
  fail(new ApiError('storage_unavailable', 'The disk is full.'));
  buffer.add(rows(0, MAX_BUFFERED_ROWS));
  await buffer.flush();
  buffer.add(rows(MAX_BUFFERED_ROWS, MAX_BUFFERED_ROWS + 7));
  expect(lost).toMatchObject([[7, expect.any(String)]]);
  fail(null);
  await buffer.close();
  expect(groups.flat()).toHaveLength(MAX_BUFFERED_ROWS);
  expect(groups[0]?.[0]).toBe('req_7');
});

test('what cannot be written at the end is told', async () => {
  const { buffer, lost, fail } = recorder();
  fail(new ApiError('storage_unavailable', 'The disk is full.'));
  buffer.add(rows(0, 3));
  await buffer.close();
  expect(lost).toMatchObject([[3, expect.stringContaining('shutdown')]]);
});

function recorder() {
  const groups: string[][] = [];
  const lost: [number, string][] = [];
  let failure: Error | null = null;
  const buffer = new UsageBuffer({
    write: async (group: readonly UsageRow[]) => {
      if (failure !== null) throw failure;
      groups.push(group.map(({ requestId }) => requestId));
    },
    onLost: (count, reason) => lost.push([count, reason]),
  });
  return { buffer, groups, lost, fail: (error: Error | null) => (failure = error) };
}

function rows(from: number, to: number): UsageRow[] {
  return Array.from({ length: to - from }, (_, index) => usageRow(from + index));
}
