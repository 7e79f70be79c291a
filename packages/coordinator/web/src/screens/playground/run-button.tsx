import { Button } from '../../ui/button/button.js';
import { formatMs } from '../../ui/text/format.js';
import { useSeconds } from './use-seconds.js';

interface RunButtonProps {
  readonly running: AbortController | null;
  readonly verb: string;
  readonly icon: string;
  readonly disabled: boolean;
  readonly busy?: boolean;
}

/** Submits its form. While the run lasts, it shows the seconds, and a button that stops the run. */
export function RunButton({ running, verb, icon, disabled, busy = false }: RunButtonProps) {
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
