import { currentSession } from '../../api/session.js';
import { Button } from '../../ui/button/button.js';
import { Code } from '../../ui/text/code.js';
import { KEY_VARIABLE } from '../../ui/snippets/snippets.js';
import { Empty } from '../../ui/table/states.js';

interface NoBatchesProps {
  readonly onNew: () => void;
}

export function NoBatches({ onNew }: NoBatchesProps) {
  return (
    <Empty icon="layers" title="No batches yet." text={NEXT}>
      <Code text={snippet(currentSession().gateway.base_url)} label="Copy the snippet" />
      <Button onClick={onNew}>Paste or upload lines</Button>
    </Empty>
  );
}

const NEXT =
  'A batch is up to 256 requests that are handed in together. Put a model of yours in place of ' +
  'MODEL, or paste lines here.';

function snippet(baseUrl: string): string {
  const body = { model: 'MODEL', messages: [{ role: 'user', content: 'Say hello.' }] };
  const requests = [{ endpoint: '/v1/chat/completions', body }];
  return [
    `curl ${baseUrl}/batches \\`,
    `  -H "Authorization: Bearer ${KEY_VARIABLE}" \\`,
    "  -H 'Content-Type: application/json' \\",
    `  -d '${JSON.stringify({ label: 'first', requests }, null, 2)}'`,
  ].join('\n');
}
