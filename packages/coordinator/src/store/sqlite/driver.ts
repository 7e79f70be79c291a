/**
 * better-sqlite3, in the version that fits this Node. Since 24.19, Node aborts when it collects an
 * object of version 12 between two tasks: `ObjectWrap` then has no environment
 * (WiseLibs/better-sqlite3#1515). Version 13 is built on Node-API 10 instead, which Node has from
 * 22.14 on; on Node 20 it ends in a segmentation fault. Both are optional dependencies: npm then
 * leaves out a version that does not run on this Node, and goes on if one cannot be compiled.
 */
import { createRequire } from 'node:module';
import type Driver from 'better-sqlite3';

const hasNodeApi10 = Number(process.versions['napi'] ?? 0) >= 10;

export const SqliteDatabase: typeof Driver = load(
  hasNodeApi10 ? 'better-sqlite3' : 'better-sqlite3-12',
);

function load(name: string): typeof Driver {
  try {
    return createRequire(import.meta.url)(name) as typeof Driver;
  } catch (error) {
    const { version } = process;
    const message = `${name}, for Node ${version}, is not installed: run "npm install" again.`;
    throw new Error(message, { cause: error });
  }
}
