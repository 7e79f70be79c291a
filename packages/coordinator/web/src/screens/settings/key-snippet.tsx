import { useState } from 'preact/hooks';
import { useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { Code } from '../../ui/text/code.js';
import { Segments } from '../../ui/form/field.js';
import { LANGUAGES, snippetOf } from '../../ui/snippets/snippets.js';
import type { Language, SnippetCall } from '../../ui/snippets/snippets.js';
import type { Key } from './keys.js';

type Model = MyResult<'model.list'>[number];

interface KeySnippetProps {
  readonly baseUrl: string;
  readonly secret: string;
  readonly scope: Key['scope'];
}

/** A first call that runs as pasted, with a model that answers now. */
export function KeySnippet({ baseUrl, secret, scope }: KeySnippetProps) {
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
          No model is online for this key now. Put the name of one in place of {PLACEHOLDER}.
        </p>
      )}
    </div>
  );
}

const PLACEHOLDER = 'your-model';

type Shown = 'chat' | 'images' | 'speech';
type First = Pick<SnippetCall, 'endpoint' | 'body'>;

/** Chat before all else, and nothing that needs a file to send. */
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
