/**
 * A table of a million jobs beside one of a thousand, of the same members and in the same mixture:
 * the store and the API are to be as fast with both.
 */
import { mkdirSync, mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import type { BenchOptions } from '../../options.js';
import type { Samples } from '../../samples.js';
import { measureApis } from './api-reads.js';
import { seed } from './seed.js';
import type { Seeded } from './seed.js';
import { measureStores } from './store-calls.js';
import { FEW, MANY } from './table-round.js';

const FEW_ROWS = 1_000;

const FULL = { rounds: 5, reads: 100, claims: 10, rows: 1_000_000 };
const QUICK = { rounds: 1, reads: 20, claims: 3, rows: 20_000 };

export async function measureTables(options: BenchOptions, samples: Samples): Promise<void> {
  const { say, cpuProf } = options;
  const { rows: usual, ...size } = options.quick ? QUICK : FULL;
  const folder = mkdtempSync(join(tmpdir(), 'gateway-bench-tables-'));
  const round = { ...size, samples, say, cpuProf };
  try {
    const tables = new Map([
      [FEW, await seeded(join(folder, FEW), FEW_ROWS, options)],
      [MANY, await seeded(join(folder, MANY), options.rows ?? usual, options)],
    ]);
    samples.add(FEW, 'rows', FEW_ROWS);
    samples.add(MANY, 'rows', options.rows ?? usual);
    await measureStores(tables, round);
    await measureApis(tables, round);
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}

async function seeded(folder: string, rows: number, { say }: BenchOptions): Promise<Seeded> {
  mkdirSync(folder, { mode: 0o700 });
  const start = performance.now();
  const table = await seed(folder, rows);
  const seconds = Math.round((performance.now() - start) / 1_000);
  say(`tables: ${rows.toLocaleString('en-US')} jobs written in ${seconds} s`);
  return table;
}
