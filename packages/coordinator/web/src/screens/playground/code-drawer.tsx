import { useState } from 'preact/hooks';
import { currentSession } from '../../api/session.js';
import { Button } from '../../ui/button/button.js';
import { Code } from '../../ui/text/code.js';
import { Dialog } from '../../ui/dialog/dialog.js';
import { Segments } from '../../ui/form/field.js';
import { KEY_VARIABLE, LANGUAGES, snippetOf } from '../../ui/snippets/snippets.js';
import { configurationOf, fileOf, PROGRAMS } from '../../ui/snippets/programs.js';
import type { Program } from '../../ui/snippets/programs.js';
import type { Language } from '../../ui/snippets/snippets.js';
import type { ApiRequest } from './call.js';
import { shortened } from './shortened.js';

interface CodeButtonProps {
  /** Called when the drawer opens: requests with pictures are long. */
  readonly request: () => ApiRequest;
}

/** Shows the request as code for a program of the member's own. */
export function CodeButton({ request }: CodeButtonProps) {
  const [shown, setShown] = useState<ApiRequest | null>(null);
  return (
    <>
      <Button small icon="code" onClick={() => setShown(request())}>
        Code
      </Button>
      {shown !== null && <CodeDrawer request={shown} onClose={() => setShown(null)} />}
    </>
  );
}

function CodeDrawer({
  request,
  onClose,
}: {
  readonly request: ApiRequest;
  readonly onClose: () => void;
}) {
  const [shape, setShape] = useState<Language | Program>('curl');
  const { endpoint, files } = request;
  const { body, isShortened } = shortened(request.body);
  const place = { baseUrl: currentSession().gateway.base_url, key: KEY_VARIABLE };
  const program = PROGRAMS.find(({ value }) => value === shape)?.value;
  const language = LANGUAGES.find(({ value }) => value === shape)?.value ?? 'curl';
  const text =
    program === undefined
      ? snippetOf(language, {
          ...place,
          endpoint,
          body,
          ...(files !== undefined && { files: files.map(({ field, name }) => ({ field, name })) }),
        })
      : configurationOf(program, { ...place, model: String(body['model']) });
  const file = program === undefined ? null : fileOf(program);
  // These programs chat; they have no use for other requests.
  const shapes = body['messages'] === undefined ? LANGUAGES : [...LANGUAGES, ...PROGRAMS];
  return (
    <Dialog title="This request as code" shape="wide" onClose={onClose}>
      <div class="stack">
        <p class="soft">
          Put your key into <code>GATEWAY_KEY</code>; keys are made under{' '}
          <a href="/settings/token">Settings, Token</a>.
          {isShortened && ' Picture data is shortened here: insert the whole data.'}
        </p>
        <div>
          <Segments label="Language or program" value={shape} options={shapes} onValue={setShape} />
        </div>
        {file !== null && (
          <p class="soft">
            In <code>{file}</code>:
          </p>
        )}
        <Code text={text} label="Copy the code" />
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
