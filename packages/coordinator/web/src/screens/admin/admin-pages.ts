/** Paged lists of Admin. */
import { CONSOLE, requestJson } from '../../api/request.js';
import { useFurther } from '../../api/pages.js';
import type { Page, Pages } from '../../api/pages.js';
import { useAdmin } from '../../api/commands.js';
import type { AdminArgs, AdminResult } from '../../api/commands.js';
import type { SnapshotOptions } from '../../api/snapshot.js';

type Paged = 'job.list' | 'audit.list';
type Row<Name extends Paged> = AdminResult<Name>[number];

export const PAGE_ROWS = 100;

/** If a page is full, there may be another one. */
export function useAdminPages<Name extends Paged>(
  name: Name,
  args: AdminArgs<Name>,
  options: SnapshotOptions,
): Pages<Row<Name>> {
  const first = useAdmin(name, args, options);
  const key = `${name} ${JSON.stringify(args)}`;
  const data: readonly Row<Name>[] | undefined = first.data;
  return useFurther(
    key,
    { ...first, data: data && toPage(data, PAGE_ROWS), refresh: () => first.refresh() },
    async (after, limit = PAGE_ROWS) =>
      toPage(await readPage<Row<Name>>(name, { ...args, after, limit }), limit),
  );
}

function readPage<T>(name: Paged, args: object): Promise<readonly T[]> {
  return requestJson(`${CONSOLE}/admin/${name}?args=${encodeURIComponent(JSON.stringify(args))}`);
}

function toPage<T>(rows: readonly T[], limit: number): Page<T> {
  return { data: rows, has_more: rows.length >= limit };
}
