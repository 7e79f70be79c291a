/**
 * The administrative operations, with the coordinator's own types: what members may do with their
 * own data (`my`), and what an administrator may do with all data (`admin`).
 */
import type { AdminArgs, AdminName, AdminResult } from '../../../src/operations/operations.js';
import type { MyArgs, MyChange, MyRead, MyResult } from '../../../src/operations/my/commands.js';
import { CONSOLE, postJson, requestJson } from './request.js';
import { useSnapshot } from './snapshot.js';
import type { Snapshot, SnapshotOptions } from './snapshot.js';

export type { AdminArgs, AdminName, AdminResult, MyArgs, MyChange, MyRead, MyResult };

/** Changes something. Throws a `Fault`. */
export function my<Name extends MyChange>(name: Name, args: MyArgs<Name>): Promise<MyResult<Name>> {
  return postJson(`${CONSOLE}/my/${name}`, args);
}

/** Reads once. Throws a `Fault`. */
export function readMy<Name extends MyRead>(
  name: Name,
  args: MyArgs<Name>,
): Promise<MyResult<Name>> {
  return requestJson(urlOf(`${CONSOLE}/my/${name}`, args));
}

/** Reads, and polls while the tab is visible. */
export function useMy<Name extends MyRead>(
  name: Name,
  args: MyArgs<Name>,
  options?: SnapshotOptions,
): Snapshot<MyResult<Name>> {
  return useSnapshot(urlOf(`${CONSOLE}/my/${name}`, args), options);
}

/** Changes something, as an administrator. Throws a `Fault`. */
export function admin<Name extends AdminName>(
  name: Name,
  args: AdminArgs<Name>,
): Promise<AdminResult<Name>> {
  return postJson(`${CONSOLE}/admin/${name}`, args);
}

export function useAdmin<Name extends AdminName>(
  name: Name,
  args: AdminArgs<Name>,
  options?: SnapshotOptions,
): Snapshot<AdminResult<Name>> {
  return useSnapshot(urlOf(`${CONSOLE}/admin/${name}`, args), options);
}

function urlOf(path: string, args: unknown): string {
  const json = JSON.stringify(args);
  return json === '{}' ? path : `${path}?args=${encodeURIComponent(json)}`;
}
