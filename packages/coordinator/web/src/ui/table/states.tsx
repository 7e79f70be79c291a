/** Shown instead of a list: loading, empty, no match, error. */
import type { ComponentChildren } from 'preact';
import type { Fault } from '../../api/fault.js';
import { Button } from '../button/button.js';
import { Icon } from '../button/icon.js';
import { Told } from '../text/told.js';
import './states.css';

/** As high as the expected content, so that nothing moves when it arrives. */
export function Loading({ rows = 5 }: { readonly rows?: number }) {
  return (
    <div role="status" aria-label="Loading" aria-busy="true">
      {Array.from({ length: rows }, (_, index) => (
        <span key={index} class="skeleton row" />
      ))}
    </div>
  );
}

interface EmptyProps {
  readonly icon?: string;
  readonly title: string;
  /** The next step, in a sentence. */
  readonly text?: string;
  readonly children?: ComponentChildren;
}

export function Empty({ icon = 'boxes', title, text, children }: EmptyProps) {
  return (
    <div class="state">
      <Icon name={icon} />
      <p class="title">{title}</p>
      {text !== undefined && <p>{text}</p>}
      {children}
    </div>
  );
}

/** For a list that has entries, none of which matches the filters. */
export function NoMatch({
  what,
  onClear,
}: {
  readonly what: string;
  readonly onClear: () => void;
}) {
  return (
    <Empty icon="search" title={`No ${what} match these filters.`}>
      <Button onClick={onClear}>Clear the filters</Button>
    </Empty>
  );
}

interface FaultStateProps {
  readonly fault: Fault;
  readonly onRetry?: () => void;
}

/** Shows why nothing could be loaded. */
export function FaultState({ fault, onRetry }: FaultStateProps) {
  return (
    <div class="state" role="alert">
      <Icon name="circle-alert" />
      <p class="title">This could not be loaded.</p>
      <p>
        <Told text={fault.message} />
      </p>
      {fault.requestId !== null && <p class="small mono">{fault.requestId}</p>}
      {onRetry !== undefined && (
        <Button icon="refresh-cw" onClick={onRetry}>
          Try again
        </Button>
      )}
    </div>
  );
}

interface UnansweredProps {
  readonly fault: Fault | null;
  readonly onRetry: () => void;
  /** Shown if the coordinator answers that it does not exist. */
  readonly children: ComponentChildren;
}

/** For a page about one object, until it is loaded. */
export function Unanswered({ fault, onRetry, children }: UnansweredProps) {
  if (fault === null) return <Loading rows={8} />;
  if (fault.status !== 404) return <FaultState fault={fault} onRetry={onRetry} />;
  return <>{children}</>;
}

/** Shows below a form why it was not accepted. */
export function FaultText({ fault }: { readonly fault: Fault | null }) {
  if (fault === null) return null;
  return (
    <p class="bad" role="alert">
      <Told text={fault.message} />
      {fault.reportId !== null && <span class="mono small"> {fault.reportId}</span>}
    </p>
  );
}
