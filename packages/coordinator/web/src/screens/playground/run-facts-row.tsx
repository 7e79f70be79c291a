import { CopyText } from '../../ui/button/copy.js';
import { formatCount, formatMs, formatSpeed } from '../../ui/text/format.js';
import type { RunFacts } from './run-facts.js';
import './run-facts-row.css';

interface RunFactsRowProps {
  readonly facts: RunFacts;
  /** Label of the first time: "First token"; files arrive whole. */
  readonly first?: string;
}

/** Provider, times and speed of an answer, in one line that wraps. */
export function RunFactsRow({ facts, first = 'First token' }: RunFactsRowProps) {
  const { provider, queueMs, requestId, firstMs, totalMs, tokens, tokensPerSecond } = facts;
  return (
    <dl class="run-facts small" aria-label="Facts about this answer">
      <Fact name={first} value={firstMs === null ? null : formatMs(firstMs)} />
      <Fact name="Speed" value={tokensPerSecond === null ? null : formatSpeed(tokensPerSecond)} />
      <Fact
        name="Tokens"
        value={tokens && `${formatCount(tokens.completion)} + ${formatCount(tokens.prompt)} prompt`}
      />
      <Fact name="Total" value={formatMs(totalMs)} />
      <Fact name="Queued" value={queueMs === null ? null : formatMs(queueMs)} />
      <Fact name="Provider" value={provider} />
      {requestId !== null && (
        <div>
          <dt>Request</dt>
          <dd>
            <CopyText text={requestId} label="Copy the request id" href={`/usage/${requestId}`} />
          </dd>
        </div>
      )}
    </dl>
  );
}

function Fact({ name, value }: { readonly name: string; readonly value: string | null }) {
  if (value === null) return null;
  return (
    <div>
      <dt>{name}</dt>
      <dd>{value}</dd>
    </div>
  );
}
