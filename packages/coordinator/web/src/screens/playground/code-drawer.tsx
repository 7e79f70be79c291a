import { useState } from 'preact/hooks';
import { currentSession } from '../../api/session.js';
import { Button } from '../../ui/button/button.js';
import { Code } from '../../ui/text/code.js';
import { Dialog } from '../../ui/dialog/dialog.js';
import { Segments } from '../../ui/form/field.js';
import { KEY_VARIABLE, LANGUAGES, snippetOf } from '../../ui/snippets/snippets.js';
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
  const [language, setLanguage] = useState<Language>('curl');
  const { endpoint, files } = request;
  const { body, isShortened } = shortened(request.body);
  const text = snippetOf(language, {
    baseUrl: currentSession().gateway.base_url,
    key: KEY_VARIABLE,
    endpoint,
    body,
    ...(files !== undefined && { files: files.map(({ field, name }) => ({ field, name })) }),
  });
  return (
    <Dialog title="This request as code" shape="wide" onClose={onClose}>
      <div class="stack">
        <p class="soft">
          Put your key into <code>GATEWAY_KEY</code>; keys are made under{' '}
          <a href="/settings/token">Settings, Token</a>.
          {isShortened && ' Picture data is shortened here: insert the whole data.'}
        </p>
        <div>
          <Segments label="Language" value={language} options={LANGUAGES} onValue={setLanguage} />
        </div>
        <Code text={text} label="Copy the code" />
      </div>
      <div class="dialog-foot">
        <Button onClick={onClose}>Close</Button>
      </div>
    </Dialog>
  );
}
