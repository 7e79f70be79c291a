import type { ComponentChildren } from 'preact';
import type { Pages } from '../../api/pages.js';
import { FaultState, Loading } from '../../ui/states.js';

interface PagedStateProps<Row> {
  readonly pages: Pages<Row>;
  readonly children: (rows: readonly Row[]) => ComponentChildren;
}

/** Until there are rows: that they are coming, or why they are not. */
export function PagedState<Row>({ pages, children }: PagedStateProps<Row>) {
  const { rows, fault, refresh } = pages;
  if (rows !== undefined) return <>{children(rows)}</>;
  return fault === null ? (
    <Loading rows={10} />
  ) : (
    <FaultState fault={fault} onRetry={() => void refresh()} />
  );
}
