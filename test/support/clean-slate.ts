/**
 * Checks that every test file leaves its process as it found it. Files share a process, one after
 * the other, which saves each the second that it takes to load the programs. A file that left
 * something behind could change the results of the next one, so it fails here, with the name of
 * what it left.
 */
import { beforeAll, expect } from 'vitest';
import { cpuMs } from './cpu-time.js';
import type { CpuMeta } from './cpu-time.js';
import { endCommands } from './run-command.js';
import { until } from './until.js';

/** A server or a process ends a moment after it is told to. */
const END_TIMEOUT_MS = 5_000;

/** Handles that must not stay open. Sockets that clients keep for their next request may. */
const OPEN = ['TCPServerWrap', 'PipeServerWrap', 'PipeWrap', 'ProcessWrap'];

const REPLACEABLE: readonly (readonly [object, string])[] = [
  ...[
    'fetch',
    'setTimeout',
    'setInterval',
    'setImmediate',
    'clearTimeout',
    'Date',
    'WebSocket',
  ].map((name) => [globalThis, name] as const),
  [Date, 'now'],
  [Math, 'random'],
  [performance, 'now'],
  [process, 'kill'],
  [process, 'exit'],
  [process.stdout, 'write'],
  [process.stderr, 'write'],
];

const startedAt = cpuMs();
const found = surroundings();
const openBefore = openOnes();

// The function that the first hook returns runs after all other hooks and their teardowns. Vitest
// requires a destructured first argument if the second is used.
// oxlint-disable-next-line no-empty-pattern
beforeAll(({}, { file }) => async () => {
  await endCommands();
  await until(() => leftOpen().length === 0, { timeoutMs: END_TIMEOUT_MS }).catch(() => {});
  (file.meta as CpuMeta).cpuMs = cpuMs() - startedAt;
  expect(leftOpen(), 'a file of tests must close what it opens').toEqual([]);
  expect(surroundings(), 'a file of tests must leave its process as it was').toEqual(found);
});

/** Global state that tests can change, and functions that they can replace. */
function surroundings() {
  const replaceable: unknown[] = REPLACEABLE.map(([owner, name]) => Reflect.get(owner, name));
  return {
    env: { ...process.env },
    folder: process.cwd(),
    umask: process.umask(),
    exitCode: process.exitCode,
    replaceable,
  };
}

function leftOpen(): string[] {
  const before = [...openBefore];
  return openOnes().filter((name) => {
    const index = before.indexOf(name);
    if (index >= 0) before.splice(index, 1);
    return index < 0;
  });
}

function openOnes(): string[] {
  return process.getActiveResourcesInfo().filter((name) => OPEN.includes(name));
}
