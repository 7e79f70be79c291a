import { useMy } from '../../api/commands.js';
import type { MyResult } from '../../api/commands.js';
import { currentSession } from '../../api/session.js';
import { Code } from '../../ui/text/code.js';
import { Segments } from '../../ui/form/field.js';
import { useQuery } from '../../ui/form/query.js';
import { KEY_VARIABLE, LANGUAGES, snippetOf } from '../../ui/snippets/snippets.js';
import type { SnippetCall } from '../../ui/snippets/snippets.js';

type Model = MyResult<'model.list'>[number];

/** From no key to the first answer, with the gateway's own address and a model that is online. */
export function QuickStart() {
  const { base_url: baseUrl } = currentSession().gateway;
  return (
    <div>
      <ol class="docs-steps">
        <li>
          <h2>Make a key</h2>
          <p>
            Your programs call with it. <a href="/settings/token">Create one under Settings</a>; it
            is shown once. In a shell, keep it in a variable:
          </p>
          <Code text="export GATEWAY_KEY=gwk_…" label="Copy the command" />
        </li>
        <li>
          <h2>Set the base URL</h2>
          <p>Any OpenAI client works when its base URL is this one and its API key is yours.</p>
          <Code inline text={baseUrl} label="Copy the base URL" />
        </li>
        <li>
          <h2>Call</h2>
          <Call baseUrl={baseUrl} />
        </li>
        <li>
          <h2>Next steps</h2>
          <ul class="docs-next">
            <li>
              <a href="/playground">Try it here</a>, and copy the code of the exact request.
            </li>
            <li>
              <a href="/models">See what is online</a>, and what each model can do.
            </li>
            <li>
              <a href="/docs/endpoints">Every endpoint</a> with its fields, and{' '}
              <a href="/docs/errors">every error</a> with what to do.
            </li>
          </ul>
        </li>
      </ol>
    </div>
  );
}

function Call({ baseUrl }: { readonly baseUrl: string }) {
  const [written, setLanguage] = useQuery('in');
  const [named, setCall] = useQuery('call');
  const language = LANGUAGES.find(({ value }) => value === written)?.value ?? 'curl';
  const call = CALLS.find(({ value }) => value === named) ?? CALLS[0];
  const model = useModel(call.type);
  const shown = callOf(call.value, model?.id ?? PLACEHOLDER);
  const text = snippetOf(language, { baseUrl, key: KEY_VARIABLE, ...shown });
  return (
    <div class="stack">
      <div class="row">
        <Segments<CallName> label="What" value={call.value} options={CALLS} onValue={setCall} />
        <Segments label="Language" value={language} options={LANGUAGES} onValue={setLanguage} />
      </div>
      <p class="soft">{call.text}</p>
      <Code text={text} label="Copy the call" />
      {model === null && (
        <p class="soft small">
          No model for this is online now. Replace {PLACEHOLDER} with the name of one.
        </p>
      )}
    </div>
  );
}

/** Undefined until it is known; null if there is none. */
function useModel(type: Model['service_type']): Model | null | undefined {
  const { data } = useMy('model.list', {}, { topics: ['providers'] });
  const fitting = data?.find((one) => one.service_type === type && one.online);
  return data === undefined ? undefined : (fitting ?? null);
}

// The calls that the quick start shows.

const PLACEHOLDER = 'your-model';

const CALLS = [
  {
    value: 'chat',
    label: 'Chat',
    type: 'llm',
    text: 'One question, one answer.',
  },
  {
    value: 'stream',
    label: 'Stream',
    type: 'llm',
    text: 'The answer word by word, as it is made.',
  },
  {
    value: 'job',
    label: 'Job',
    type: 'llm',
    text: 'Queued at once; its answer is read later from /jobs. Good for long work.',
  },
  {
    value: 'image',
    label: 'Image',
    type: 'image',
    text: 'A picture, kept in your library.',
  },
  {
    value: 'speech',
    label: 'Speech',
    type: 'tts',
    text: 'Text read aloud, as a file.',
  },
  {
    value: 'transcription',
    label: 'Transcription',
    type: 'stt',
    text: 'What is said in a file of up to 25 MB.',
  },
] as const;

type CallName = (typeof CALLS)[number]['value'];

const MESSAGES = [{ role: 'user', content: 'Why is the sky blue?' }];

function callOf(name: CallName, model: string): Pick<SnippetCall, 'endpoint' | 'body' | 'files'> {
  switch (name) {
    case 'chat':
      return { endpoint: 'chat', body: { model, messages: MESSAGES } };
    case 'stream':
      return { endpoint: 'chat', body: { model, messages: MESSAGES, stream: true } };
    case 'job':
      return { endpoint: 'chat', body: { model, messages: MESSAGES, async: true } };
    case 'image':
      return { endpoint: 'images', body: { model, prompt: 'A lighthouse at dawn' } };
    case 'speech':
      return { endpoint: 'speech', body: { model, input: 'Hello from home.' } };
    case 'transcription':
      return {
        endpoint: 'transcriptions',
        body: { model },
        files: [{ field: 'file', name: 'speech.wav' }],
      };
  }
}
