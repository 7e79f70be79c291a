import { currentSession } from '../../api/session.js';
import { LinkButton } from '../../ui/button/button.js';
import { Code } from '../../ui/text/code.js';
import { KEY_VARIABLE, snippetOf } from '../../ui/snippets/snippets.js';
import { Empty } from '../../ui/table/states.js';

/** The first job is one paste away. */
export function NoJobs() {
  const text = snippetOf('curl', {
    baseUrl: currentSession().gateway.base_url,
    key: KEY_VARIABLE,
    endpoint: 'chat',
    body: {
      model: 'MODEL',
      messages: [{ role: 'user', content: 'Say hello.' }],
      async: true,
    },
  });
  return (
    <Empty icon="list-checks" title="No jobs yet." text={NEXT}>
      <Code text={text} label="Copy the snippet" />
      <LinkButton href="/playground">Submit one from the Playground</LinkButton>
    </Empty>
  );
}

const NEXT =
  'Any call with async: true becomes a job: it waits for a free slot, and its result is kept ' +
  'here. Put a model of yours in place of MODEL.';
