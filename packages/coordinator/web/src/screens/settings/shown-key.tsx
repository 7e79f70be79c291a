import { useState } from 'preact/hooks';
import { currentSession } from '../../api/session.js';
import { Code } from '../../ui/text/code.js';
import { OnceDialog } from '../../ui/dialog/dialog.js';
import { useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { Segments } from '../../ui/form/field.js';
import { LANGUAGES, snippetOf } from '../../ui/snippets/snippets.js';
import type { Language, SnippetCall } from '../../ui/snippets/snippets.js';
import { asFault, readFault, unreachable } from '../../api/fault.js';
import { Button } from '../../ui/button/button.js';
import { plural } from '../../ui/text/format.js';
import { Icon } from '../../ui/button/icon.js';
import type { WholeKey, Key } from './keys.js';

interface ShownKeyProps {
  readonly title: string;
  readonly made: WholeKey;
  readonly onClose: () => void;
}

/** The whole key, which is shown only once, with all that a first call needs. */
export function ShownKey({ title, made, onClose }: ShownKeyProps) {
  const { base_url: baseUrl } = currentSession().gateway;
  return (
    <OnceDialog title={title} what="the key" onClose={onClose}>
      <div class="stack shown-key">
        <p>Copy the key now. It is not shown again: the gateway keeps only its hash.</p>
        <div class="shown-facts">
          <span class="soft">Key</span>
          <Code inline text={made.key} label="Copy the key" />
          <span class="soft">Base URL</span>
          <Code inline text={baseUrl} label="Copy the base URL" />
        </div>
        <KeyTest secret={made.key} />
        <KeySnippet baseUrl={baseUrl} secret={made.key} scope={made.scope} />
      </div>
    </OnceDialog>
  );
}

type Model = MyResult<'model.list'>[number];

interface KeySnippetProps {
  readonly baseUrl: string;
  readonly secret: string;
  readonly scope: Key['scope'];
}

/** A first call that runs as pasted, with a model that is online. */
function KeySnippet({ baseUrl, secret, scope }: KeySnippetProps) {
  const [language, setLanguage] = useState<Language>('curl');
  const models = useMy('model.list', {}, { topics: ['providers'] }).data ?? [];
  const reached = models.filter(({ online, own }) => online && (scope === 'any' || own === true));
  const first = firstCall(reached);
  const call = { baseUrl, key: secret, ...(first ?? callOf('chat', PLACEHOLDER)) };
  return (
    <div class="stack">
      <div>
        <Segments label="Language" value={language} options={LANGUAGES} onValue={setLanguage} />
      </div>
      <Code text={snippetOf(language, call)} label="Copy the call" />
      {first === null && (
        <p class="soft">
          No model is online for this key now. Replace {PLACEHOLDER} with the name of one.
        </p>
      )}
    </div>
  );
}

const PLACEHOLDER = 'your-model';

type Shown = 'chat' | 'images' | 'speech';

type First = Pick<SnippetCall, 'endpoint' | 'body'>;

/** Prefers chat; no call that needs a file. */
function firstCall(models: readonly Model[]): First | null {
  for (const [type, endpoint] of CALLS) {
    const model = models.find(({ service_type }) => service_type === type);
    if (model !== undefined) return callOf(endpoint, model.id);
  }
  return null;
}

const CALLS = [
  ['llm', 'chat'],
  ['image', 'images'],
  ['tts', 'speech'],
] as const;

function callOf(endpoint: Shown, model: string): First {
  switch (endpoint) {
    case 'chat':
      return { endpoint, body: { model, messages: [{ role: 'user', content: 'Say hello.' }] } };
    case 'images':
      return { endpoint, body: { model, prompt: 'A lighthouse at dawn' } };
    case 'speech':
      return { endpoint, body: { model, input: 'Hello from home.' } };
  }
}

type Outcome =
  | { readonly kind: 'works'; readonly models: number }
  | { readonly kind: 'failed'; readonly message: string };

/** Sends a request as a program would: with the key, and without the session. */
function KeyTest({ secret }: { readonly secret: string }) {
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
