import { currentSession } from '../../api/session.js';
import { Button, LinkButton } from '../../ui/button/button.js';
import { Code } from '../../ui/text/code.js';
import { Icon } from '../../ui/button/icon.js';
import { Ago } from '../../ui/text/time.js';
import { SharingSection } from '../sharing/sharing-section.js';
import { enrollCommand, logInCommand } from './agent-commands.js';
import { useJoinTokens } from './join-token.js';
import type { MadeToken } from './join-token.js';
import { useOwnProviders } from './own-providers.js';
import type { OwnProvider } from './own-providers.js';

interface JoiningProps {
  readonly made: MadeToken;
  readonly onClose: () => void;
}

/** From the commands to the machine that has run them. */
export function Joining({ made, onClose }: JoiningProps) {
  const tokens = useJoinTokens();
  const providers = useOwnProviders();
  const token = tokens.data?.find(({ id }) => id === made.id);
  const provider = providers.data?.find(({ id }) => id === token?.provider_id);
  const isOver = provider?.online === true;
  return (
    <div class="stack">
      <div role="status" class="joining">
        {provider === undefined && <Waiting text="Waiting for the first command…" />}
        {provider !== undefined && !isOver && (
          <Waiting text={`${provider.name} is enrolled. Waiting for its agent to connect…`} />
        )}
        {isOver && (
          <p class="good">
            <Icon name="circle-check" /> {provider.name} is connected.
          </p>
        )}
      </div>
      {isOver ? <Arrived provider={provider} /> : <Commands made={made} />}
      <div class="dialog-foot">
        {isOver && <LinkButton href={`/providers/${provider.id}`}>Open {provider.name}</LinkButton>}
        <Button tone={isOver ? 'primary' : 'plain'} onClick={onClose}>
          {isOver ? 'Done' : 'Close'}
        </Button>
      </div>
    </div>
  );
}

function Waiting({ text }: { readonly text: string }) {
  return (
    <p class="soft">
      <Icon name="clock" /> {text}
    </p>
  );
}

function Commands({ made }: { readonly made: MadeToken }) {
  const { public_url: url } = currentSession().gateway;
  return (
    <>
      <p>Run these on the machine with the GPU, in a copy of the program:</p>
      <Code text={enrollCommand(url, made.token, false)} label="Copy the commands" />
      <p class="soft small">
        The token works once and ends <Ago at={made.expires_at} />. It is not shown again. The
        second command finds the model servers of the machine and stays open.
      </p>
      <details>
        <summary>Without a token</summary>
        <div class="stack in-details">
          <p>
            The machine shows a code, which you type at <a href="/device">Let a machine in</a>:
          </p>
          <Code text={logInCommand(url)} label="Copy the log-in commands" />
        </div>
      </details>
    </>
  );
}

function Arrived({ provider }: { readonly provider: OwnProvider }) {
  return (
    <>
      {!provider.approved && <p>An admin has to approve it before it gets work.</p>}
      {provider.models.length === 0 && (
        <p class="soft">It serves no model as yet. Start a model server on it.</p>
      )}
      <SharingSection title="What do you share?" providers={[provider]} />
    </>
  );
}
