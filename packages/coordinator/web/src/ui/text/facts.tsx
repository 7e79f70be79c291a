import { Fragment } from 'preact';
import type { ComponentChildren } from 'preact';
import './facts.css';

/** Names and values; null values are left out. */
export function Facts({
  rows,
}: {
  readonly rows: readonly (readonly [string, ComponentChildren])[];
}) {
  return (
    <dl class="facts">
      {rows
        .filter(([, value]) => value !== null && value !== undefined)
        .map(([name, value]) => (
          <Fragment key={name}>
            <dt>{name}</dt>
            <dd>{value}</dd>
          </Fragment>
        ))}
    </dl>
  );
}
