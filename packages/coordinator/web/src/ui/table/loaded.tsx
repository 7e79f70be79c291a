import type { ComponentChildren } from 'preact';
import type { Fault } from '../../api/fault.js';
import { FaultState, Loading } from './states.js';

interface LoadedProps<T> {
  /** A snapshot, or pages. */
  readonly of: {
    readonly data: T | undefined;
    readonly fault: Fault | null;
    readonly refresh: () => Promise<void>;
  };
  /** About as many rows as will be loaded. */
  readonly rows?: number;
  /** Shown while loading, if the content does not look like rows. */
  readonly loading?: ComponentChildren;
  readonly children: (data: T) => ComponentChildren;
}

/** The coordinator's answer; until then a loading state or an error. */
export function Loaded<T>({ of, rows = 5, loading, children }: LoadedProps<T>) {
  const { data, fault, refresh } = of;
  if (data !== undefined) return <>{children(data)}</>;
  if (fault !== null) return <FaultState fault={fault} onRetry={() => void refresh()} />;
  return <>{loading ?? <Loading rows={rows} />}</>;
}
