import { useState } from 'preact/hooks';
import { asFault, readFault, unreachable } from '../../api/fault.js';
import { Button } from '../../ui/button/button.js';
import { plural } from '../../ui/text/format.js';
import { Icon } from '../../ui/button/icon.js';

type Outcome =
  | { readonly kind: 'works'; readonly models: number }
  | { readonly kind: 'failed'; readonly message: string };

/** Calls as a program would: with the key itself, and without the session. */
export function KeyTest({ secret }: { readonly secret: string }) {
  const [isBusy, setBusy] = useState(false);
  const [outcome, setOutcome] = useState<Outcome | null>(null);
  const test = async (): Promise<void> => {
    setBusy(true);
    setOutcome(await tryKey(secret));
    setBusy(false);
  };
  return (
    <div class="row">
      <Button icon="zap" busy={isBusy} onClick={() => void test()}>
        Test
      </Button>
      <span role="status" class="row">
        {outcome === null ? (
          <span class="soft">Asks for the models with this key.</span>
        ) : (
          <Told {...outcome} />
        )}
      </span>
    </div>
  );
}

function Told(outcome: Outcome) {
  if (outcome.kind === 'failed') return <span class="bad">{outcome.message}</span>;
  return (
    <>
      <span class="row good">
        <Icon name="circle-check" />
        {outcome.models === 0
          ? 'It works.'
          : `It works, and sees ${plural(outcome.models, 'model')}.`}
      </span>
      {outcome.models === 0 && (
        <span>
          No model is online for it now. <a href="/providers">Add a GPU</a>
        </span>
      )}
    </>
  );
}

async function tryKey(secret: string): Promise<Outcome> {
  try {
    const response = await fetch('/v1/models', {
      headers: { Authorization: `Bearer ${secret}` },
      credentials: 'omit',
      cache: 'no-store',
    }).catch(() => {
      throw unreachable();
    });
    if (!response.ok) throw await readFault(response);
    const { data } = (await response.json()) as { data: readonly unknown[] };
    return { kind: 'works', models: data.length };
  } catch (thrown) {
    return { kind: 'failed', message: asFault(thrown).message };
  }
}
