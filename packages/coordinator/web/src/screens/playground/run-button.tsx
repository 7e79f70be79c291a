import { Button } from '../../ui/button/button.js';
import { formatMs } from '../../ui/text/format.js';
import { FaultNote } from './fault-note.js';
import type { Shown } from './run-facts.js';
import { useSeconds } from './use-seconds.js';

interface RunFootProps {
  readonly running: AbortController | null;
  /** Of the last run. */
  readonly fault: Shown | null;
  readonly verb: string;
  readonly icon: string;
  readonly disabled: boolean;
  readonly busy?: boolean;
}

/** For a fault in a form. */
export const SUBMITS = { retry: 'submit' } as const;

/** The end of a form that runs something: the last error, and buttons that run and stop. */
export function RunFoot({ fault, ...button }: RunFootProps) {
  return (
    <>
      {fault !== null && <FaultNote fault={fault} {...(!button.disabled && SUBMITS)} />}
      <div class="row">
        <RunButton {...button} />
      </div>
    </>
  );
}

/** Submits its form. While the run lasts, it shows the seconds, and a button that stops the run. */
function RunButton(props: Omit<RunFootProps, 'fault'>) {
  const { running, verb, icon, disabled, busy = false } = props;
  if (running !== null) {
    return (
      <span class="row">
        <Button icon="square" onClick={() => running.abort()}>
          Stop
        </Button>
        <Elapsed key={verb} />
      </span>
    );
  }
  return (
    <Button type="submit" tone="primary" icon={icon} disabled={disabled} busy={busy}>
      {verb}
    </Button>
  );
}

function Elapsed() {
  return <span class="small soft">Running for {formatMs(useSeconds() * 1_000)}</span>;
}
