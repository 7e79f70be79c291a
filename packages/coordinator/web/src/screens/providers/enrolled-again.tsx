import { currentSession } from '../../api/session.js';
import { Button } from '../../ui/button/button.js';
import { Code } from '../../ui/text/code.js';
import { Icon } from '../../ui/button/icon.js';
import { Ago } from '../../ui/text/time.js';
import { enrollCommand } from './agent-commands.js';
import { useJoinTokens } from './join-token.js';
import type { MadeToken } from './join-token.js';

interface EnrolledAgainProps {
  readonly made: MadeToken;
  readonly name: string;
  readonly onClose: () => void;
}

export function EnrolledAgain({ made, name, onClose }: EnrolledAgainProps) {
  const { public_url: url } = currentSession().gateway;
  const { data } = useJoinTokens();
  const isUsed = data?.some(({ id, state }) => id === made.id && state === 'used') ?? false;
  return (
    <div class="stack">
      <div role="status" class="joining">
        <p class={isUsed ? 'good' : 'soft'}>
          <Icon name={isUsed ? 'circle-check' : 'clock'} />{' '}
          {isUsed ? `${name} has its new token. The old one has ended.` : 'Waiting…'}
        </p>
      </div>
      {!isUsed && (
        <>
          <p>Stop the agent on the machine, then run there:</p>
          <Code text={enrollCommand(url, made.token, true)} label="Copy the commands" />
          <p class="soft small">
            The token works once and ends <Ago at={made.expires_at} />. It is not shown again.
          </p>
        </>
      )}
      <div class="dialog-foot">
        <Button tone={isUsed ? 'primary' : 'plain'} onClick={onClose}>
          {isUsed ? 'Done' : 'Close'}
        </Button>
      </div>
    </div>
  );
}
