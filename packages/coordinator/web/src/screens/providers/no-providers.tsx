import { currentSession } from '../../api/session.js';
import { Button } from '../../ui/button/button.js';
import { Code } from '../../ui/text/code.js';
import { Empty } from '../../ui/table/states.js';
import { logInCommand } from './agent-commands.js';

export function NoProviders({ onAdd }: { readonly onAdd: () => void }) {
  const { public_url: url } = currentSession().gateway;
  return (
    <Empty icon="cpu" title="You have no GPU here yet." text={TEXT}>
      <Code text={logInCommand(url)} label="Copy the commands" />
      <p>
        It shows a code, which you type <a href="/device">here</a>. Or let the page make a token for
        it:
      </p>
      <Button icon="plus" onClick={onAdd}>
        Add your first GPU
      </Button>
    </Empty>
  );
}

const TEXT = 'Run this on the machine that has it, beside its model server.';
